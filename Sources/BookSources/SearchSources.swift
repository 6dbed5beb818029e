/// What the sources found, the likeliest first, each book once.
package struct SourceSearch: Sendable {
    package var records: [BookRecord] = []
    /// Those that could not say.
    package var failures: [SourceName] = []
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
        let deadline = now.advanced(by: budget)
        let answers = await inOrder { source async throws(SourceError) in
            try await source.search(words, min(count, 40), deadline)
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

    /// Where a cover of a book may be had: of its edition by ISBN, or else of books with its title and author.
    ///
    /// - Returns: the likeliest first; and the sources that could not say, so that it is worth to ask again.
    package func covers(
        number: BookNumber?, title: String, author: String?,
        within budget: Duration = SourceChain.budget
    ) async -> (candidates: [CoverCandidate], failures: [SourceName]) {
        let deadline = ContinuousClock.now.advanced(by: budget)
        var candidates: [CoverCandidate] = []
        var failures: [SourceName] = []
        func take(_ answers: [(SourceName, Result<[BookRecord], SourceError>)]) {
            for (source, answer) in answers {
                switch answer {
                case .failure: failures.append(source)
                case .success(let records):
                    candidates += records.flatMap(\.covers).filter { !candidates.contains($0) }
                }
            }
        }
        if let number {
            take(
                await inOrder { source async throws(SourceError) in
                    try await source.edition(number, deadline).map { [$0] } ?? []
                })
        }
        // A wrong cover is worse than none: without an author a title is not enough.
        if candidates.isEmpty, let author {
            take(
                await inOrder { source async throws(SourceError) in
                    try await source.search(.title(title, author: author), 10, deadline)
                        .filter { $0.isLikely(title: title, author: author) }
                })
        }
        return (candidates, failures)
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
