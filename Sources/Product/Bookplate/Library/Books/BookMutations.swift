import GraphQL
import Postgres
import Requests

extension Book {
    /// The maximum number of entries of one `createBooks`.
    static let creationsMax = 50

    static let create = RowMutation(type) { arguments, request, book throws(BookplateError) in
        let creation = try BookCreation(InputObject(arguments["input"]))
        let hasBookSources = !request.services.bookSources.names.isEmpty
        let hasCoverSources = !request.services.coverSources.isEmpty
        func attempt() async throws(BookplateError) -> (outcome: BookCreation.Outcome, row: Rows) {
            let (results, insertion) = try await request.write { pipeline, viewer in
                let insertion = creation.append(
                    to: &pipeline, for: viewer, hasCoverSources: hasCoverSources)
                if hasBookSources, let isbn = creation.isbnToComplete {
                    pipeline.enqueueCompletions(of: [isbn], for: viewer)
                }
                if creation.fetchesCover, hasCoverSources { pipeline.enqueueCoverSearches() }
                pipeline.replaceDeckSoon(of: viewer.userID)
                book.append([creation.id], to: &pipeline, for: viewer)
                return insertion
            }
            if let id = results[insertion].first { return (.book(id), results.last) }
            let obstacles = try await request.read { creation.appendObstacle(to: &$0, for: $1) }
            // If the book is there now, but was not when the row was read, another request has just created it.
            if let obstacle = obstacles.first, obstacle.isBookThere, results.last.count == 0 {
                return (.lostRace, results.last)
            }
            return (creation.outcome(obstacles.first), results.last)
        }
        var (outcome, row) = try await attempt()
        switch outcome {
        case .unknownISBN(let isbn):
            if let error = try await ExternalEditions.fetch([isbn], for: request)[isbn] {
                throw error
            }
            (outcome, row) = try await attempt()
        case .lostRace: (outcome, row) = try await attempt()
        case .book, .rejected: break
        }
        _ = try outcome.book()
        return try book.only(row, orElse: .noSuchBook)
    }

    static let createMany = PlainMutation(.many) { arguments, request throws(BookplateError) in
        let creations = try await Batch.entries(
            of: arguments, max: creationsMax, in: request
        ) { input throws(BookplateError) in try BookCreation(input) }
        var outcomes = try await attempt(creations, Array(creations.indices), in: request)
        var unknownISBNs: [Int: ISBN] = [:]
        var indicesToRetry: [Int] = []
        for (index, outcome) in outcomes {
            switch outcome {
            case .unknownISBN(let isbn): unknownISBNs[index] = isbn
            case .lostRace: indicesToRetry.append(index)
            case .book, .rejected: break
            }
        }
        let errors = try await ExternalEditions.fetch(
            Array(Set(unknownISBNs.values)), for: request)
        indicesToRetry += unknownISBNs.filter { errors[$0.value] == nil }.keys
        let retried = try await attempt(creations, indicesToRetry.sorted(), in: request)
        outcomes.merge(retried) { $1 }
        return creations.enumerated().map { index, creation in
            do throws(BookplateError) {
                _ = try creation.get()
                if let error = unknownISBNs[index].flatMap({ errors[$0] }) { throw error }
                guard let outcome = outcomes[index] else { throw .internalError }
                return PlainObject(ids: ["book": [try outcome.book()]])
            } catch {
                return Batch.failed(error, in: request)
            }
        }
    }

    /// Tries to create the valid books at some indices, in one transaction.
    ///
    /// - Returns: The outcomes, by index.
    private static func attempt(
        _ creations: [Result<BookCreation, BookplateError>], _ indices: [Int],
        in request: RequestContext
    ) async throws(BookplateError) -> [Int: BookCreation.Outcome] {
        let entries = indices.compactMap { index in
            (try? creations[index].get()).map { (index: index, creation: $0) }
        }
        guard !entries.isEmpty else { return [:] }
        let hasBookSources = !request.services.bookSources.names.isEmpty
        let hasCoverSources = !request.services.coverSources.isEmpty
        let (results, insertions) = try await request.write { pipeline, viewer in
            let insertions = entries.map { entry in
                entry.creation.append(
                    to: &pipeline, for: viewer, hasCoverSources: hasCoverSources)
            }
            if hasBookSources {
                pipeline.enqueueCompletions(
                    of: entries.compactMap(\.creation.isbnToComplete), for: viewer)
            }
            if hasCoverSources, entries.contains(where: \.creation.fetchesCover) {
                pipeline.enqueueCoverSearches()
            }
            pipeline.replaceDeckSoon(of: viewer.userID)
            return insertions
        }
        var outcomes: [Int: BookCreation.Outcome] = [:]
        for (entry, insertion) in zip(entries, insertions) {
            outcomes[entry.index] = results[insertion].first.map { .book($0) }
        }
        let failed = entries.filter { outcomes[$0.index] == nil }
        guard !failed.isEmpty else { return outcomes }
        let (reasons, obstacles) = try await request.read { pipeline, viewer in
            failed.map { $0.creation.appendObstacle(to: &pipeline, for: viewer) }
        }
        for (entry, obstacle) in zip(failed, obstacles) {
            outcomes[entry.index] = entry.creation.outcome(reasons[obstacle].first)
        }
        return outcomes
    }
}

extension BookCreation.Outcome {
    /// Returns the book's id.
    ///
    /// - Throws: The reason why the book was not created.
    fileprivate func book() throws(BookplateError) -> UUID {
        switch self {
        case .book(let id): return id
        case .rejected(let error): throw error
        case .unknownISBN: throw .notFound(.unknownISBN)
        case .lostRace: throw .conflict(.init(.alreadyInLibrary))
        }
    }
}
