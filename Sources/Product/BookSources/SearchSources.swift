import Basics

/// The books that the sources have found.
package struct SourceSearchResult: Sendable {
    /// The best match first, without duplicates.
    package var records: [BookRecord] = []
    /// The sources whose requests failed.
    package var failures: [SourceName] = []
}

/// The covers that the sources have found.
package struct FoundCovers: Sendable {
    /// The best match first.
    package var candidates: [CoverCandidate] = []
    /// The sources whose requests failed.
    package var failures: [SourceName] = []
    /// When a retry is useful, if all failed sources are paused. nil if one of them failed for another reason.
    package var pausedUntil: ContinuousClock.Instant?
}

extension SourceChain {
    /// Searches books in all sources concurrently. Call `takeSearch` first.
    ///
    /// Reading and comparing the records takes milliseconds, so it does not run on the event loop of the caller.
    ///
    /// - Parameters:
    ///   - count: The maximum number of books from each source, at most 40.
    ///   - budget: The time after which the books that have been found are returned.
    ///   - reader: The user who waits for the books.
    package func search(
        _ query: BookQuery, count: Int, within budget: Duration = SourceChain.budget,
        for reader: UUID? = nil
    ) async -> SourceSearchResult {
        let options = CallOptions(
            deadline: .now.advanced(by: budget), priority: .interactive, reader: reader)
        return await withTaskExecutorPreference(globalConcurrentExecutor) {
            let results = await queryAll { source async throws(SourceError) in
                try await source.search(query, min(count, 40), options)
            }
            return Self.merged(results)
        }
    }

    private static func merged(
        _ results: [(SourceName, Result<[BookRecord], SourceError>)]
    ) -> SourceSearchResult {
        var search = SourceSearchResult()
        for (source, result) in results {
            switch result {
            case .failure: search.failures.append(source)
            case .success(let records):
                for record in records {
                    if let same = search.records.firstIndex(where: { $0.isSameBook(as: record) }) {
                        search.records[same].fill(from: record)
                    } else {
                        search.records.append(record)
                    }
                }
            }
        }
        return search
    }

    /// Finds covers of the edition with the ISBN or, if there are none, of books with the title and author.
    package func covers(
        number: BookNumber?, title: String, author: String?,
        within budget: Duration = SourceChain.budget, priority: RequestPriority = .background,
        for reader: UUID? = nil
    ) async -> FoundCovers {
        let options = CallOptions(
            deadline: .now.advanced(by: budget), priority: priority, reader: reader)
        var found = FoundCovers()
        var pauses = FailurePauses()
        func add(_ results: [(SourceName, Result<[BookRecord], SourceError>)]) {
            for ((name, result), source) in zip(results, sources) {
                switch result {
                case .failure:
                    found.failures.append(name)
                    pauses.add(source.pausedUntil(priority))
                case .success(let records):
                    found.candidates += records.flatMap(\.covers)
                        .filter { !found.candidates.contains($0) }
                }
            }
            found.pausedUntil = pauses.end
        }
        if let number {
            add(
                await queryAll { source async throws(SourceError) in
                    try await source.edition(number, options).map { [$0] } ?? []
                })
        }
        // A wrong cover is worse than none, so a title without an author is not searched.
        if found.candidates.isEmpty, let author {
            add(
                await queryAll { source async throws(SourceError) in
                    try await source.search(.title(title, author: author), 10, options)
                        .filter { $0.isLikely(title: title, author: author) }
                })
        }
        return found
    }

    /// Queries all sources concurrently, not on the event loop of the caller. Returns the results in the order of the sources.
    private func queryAll(
        _ query:
            @escaping @Sendable (BookSource) async throws(SourceError) -> [BookRecord]
    ) async -> [(SourceName, Result<[BookRecord], SourceError>)] {
        await withTaskGroup(of: (Int, Result<[BookRecord], SourceError>).self) { group in
            for (index, source) in sources.enumerated() {
                group.addTask(executorPreference: globalConcurrentExecutor) {
                    // A variable, because of a compiler bug: docs/decisions/task-group-tuples.md.
                    let result: Result<[BookRecord], SourceError>
                    do throws(SourceError) {
                        result = .success(try await query(source))
                    } catch {
                        result = .failure(error)
                    }
                    return (index, result)
                }
            }
            var results: [(Int, Result<[BookRecord], SourceError>)] = []
            for await result in group { results.append(result) }
            return results.sorted { $0.0 < $1.0 }.map { index, result in
                if case .failure(let error) = result { onFailure(sources[index].name, error) }
                return (sources[index].name, result)
            }
        }
    }
}
