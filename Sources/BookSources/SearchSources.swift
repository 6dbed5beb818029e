/// What the sources found, the likeliest first, each book once.
package struct SourceSearch: Sendable {
    package var records: [BookRecord] = []
    /// Those that could not say.
    package var failures: [SourceName] = []
}

/// Addresses of covers that the sources know.
package struct FoundCovers: Sendable {
    /// The best match first.
    package var candidates: [CoverCandidate] = []
    /// The sources that could not answer.
    package var failures: [SourceName] = []
    /// When it is worth asking again, if all failed sources are paused; nil if one failed for another reason.
    package var pausedUntil: ContinuousClock.Instant?
}

extension SourceChain {
    /// Asks all sources at once for books by their words.
    ///
    /// - Parameter count: of each source, 40 at most.
    /// - Returns: within the budget; what is known by then.
    package func search(
        _ words: BookWords, count: Int, within budget: Duration = SourceChain.budget
    ) async -> SourceSearch {
        let now = ContinuousClock.now
        // What people type must not use up what look-ups need.
        guard searchPace.withLock({ $0.turn(at: now, by: now) }) != nil else {
            return SourceSearch(failures: names)
        }
        let options = CallOptions(deadline: now.advanced(by: budget), priority: .interactive)
        let answers = await inOrder { source async throws(SourceError) in
            try await source.search(words, min(count, 40), options)
        }
        var search = SourceSearch()
        for (source, answer) in answers {
            switch answer {
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

    /// Addresses of covers: of the edition with the ISBN, or else of books with the title and author.
    package func covers(
        number: BookNumber?, title: String, author: String?,
        within budget: Duration = SourceChain.budget, priority: RequestPriority = .background
    ) async -> FoundCovers {
        let options = CallOptions(deadline: .now.advanced(by: budget), priority: priority)
        var found = FoundCovers()
        var pauses = FailurePauses()
        func take(_ answers: [(SourceName, Result<[BookRecord], SourceError>)]) {
            for ((name, answer), source) in zip(answers, sources) {
                switch answer {
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
            take(
                await inOrder { source async throws(SourceError) in
                    try await source.edition(number, options).map { [$0] } ?? []
                })
        }
        // A wrong cover is worse than none: a title without an author is not enough.
        if found.candidates.isEmpty, let author {
            take(
                await inOrder { source async throws(SourceError) in
                    try await source.search(.title(title, author: author), 10, options)
                        .filter { $0.isLikely(title: title, author: author) }
                })
        }
        return found
    }

    /// Asks all sources at once; the answers come in their order.
    private func inOrder(
        _ ask:
            @escaping @Sendable (BookSource) async throws(SourceError) -> [BookRecord]
    ) async -> [(SourceName, Result<[BookRecord], SourceError>)] {
        await withTaskGroup(of: (Int, Result<[BookRecord], SourceError>).self) { group in
            for (index, source) in sources.enumerated() {
                group.addTask {
                    // A variable, because of a compiler bug: docs/decisions/task-group-tuples.md.
                    let result: Result<[BookRecord], SourceError>
                    do throws(SourceError) {
                        result = .success(try await ask(source))
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
