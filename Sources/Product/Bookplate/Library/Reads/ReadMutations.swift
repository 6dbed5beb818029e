import GraphQL
import GraphQLPostgres
import Postgres
import Requests

extension Read {
    static let start = RowMutation(type) { arguments, request, read throws(BookplateError) in
        let book = try arguments.id("id", else: .noSuchBook)
        let input = try ReadInput(InputObject(arguments["input"]))
        return try await change(read, input.id, request, to: input.outcome) { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID, book)
            parameters.append(jsonb: input.json)
            return pipeline.append(Outcome.add, parameters)
        }
    }

    static let update = RowMutation(type) { arguments, request, read throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchRead)
        let input = InputObject(arguments["input"])
        let changes = try memberChanges(input)
        if input.isGiven("outcome"), input.text("outcome") == nil {
            throw .badUserInput(field: "outcome", .init(.required))
        }
        let outcome = input.text("outcome").flatMap(ReadOutcome.init(rawValue:))
        return try await change(read, id, request, to: outcome) { pipeline, viewer in
            changeStatement(id, changes, &pipeline, viewer)
        }
    }

    static let finish = RowMutation(type) { arguments, request, read throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchRead)
        let input = InputObject(arguments["input"])
        var changes = try memberChanges(input)
        let outcome = input.text("outcome").flatMap(ReadOutcome.init(rawValue:))
        switch outcome {
        case nil: changes.append(.init("outcome", .string(ReadOutcome.finished.rawValue)))
        case .reading:
            throw .badUserInput(
                field: "outcome",
                .init(
                    .invalidChoice,
                    detail:
                        "The outcome must be FINISHED or DID_NOT_FINISH. Use updateRead to reopen a read."
                ))
        case .finished, .didNotFinish: break
        }
        return try await change(read, id, request, to: outcome) { pipeline, viewer in
            changeStatement(id, changes, &pipeline, viewer)
        }
    }

    /// Succeeds even if there is no such read, so that clients can retry the mutation.
    static let delete = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchRead)
        let books = try await request.write { pipeline, viewer in
            pipeline.append(deleteRead, .of(viewer.userID, id))
        }
        return [
            PlainObject(
                leaves: ["id": .string(id.description)], ids: ["book": books.compactMap { $0.id }])
        ]
    }

    static let deletePayloadFields: [String: FieldResolver] = [
        "id": .property, "book": .load(RowsOfPlainObject(.one, Book.type)),
    ]

    // MARK: - Statements

    /// Returns the members of the input, checked, for `change_read`.
    private static func memberChanges(
        _ input: InputObject
    ) throws(BookplateError) -> [Value.Member] {
        var members: [Value.Member] = []
        let startedOn = try input.date("startedOn")
        let finishedOn = try input.date("finishedOn")
        if let startedOn, let finishedOn, finishedOn.isBefore(startedOn) {
            throw ReadInput.datesReversed
        }
        for (name, date) in [("startedOn", startedOn), ("finishedOn", finishedOn)]
        where input.isGiven(name) {
            members.append(.init(name, date.map { .string($0.text) } ?? .null))
        }
        if let outcome = input.text("outcome") {
            members.append(.init("outcome", .string(outcome)))
        }
        if input.isGiven("format") {
            members.append(.init("format", input.text("format").map { .string($0) } ?? .null))
        }
        if input.isGiven("lengthSeconds") {
            members.append(
                .init("lengthSeconds", try input.length().map { .int(Int($0)) } ?? .null))
        }
        if input.isGiven("note") {
            members.append(.init("note", try input.note().map { .string($0) } ?? .null))
        }
        return members
    }

    private static func changeStatement(
        _ id: UUID, _ changes: [Value.Member], _ pipeline: inout Pipeline, _ viewer: Viewer
    ) -> ResultKey<Outcome> {
        var parameters = Parameters.of(viewer.userID, id)
        parameters.append(jsonb: .object(changes))
        return pipeline.append(Outcome.change, parameters)
    }

    /// Runs a statement that changes a read, and returns the read. If the reader has given the book up, the feed is
    /// changed immediately: see `BookUpdate.changesFeed`.
    private static func change(
        _ read: RowsByID, _ id: UUID, _ request: RequestContext, to outcome: ReadOutcome?,
        _ append: (inout Pipeline, Viewer) -> ResultKey<Outcome>
    ) async throws(BookplateError) -> Children {
        let (results, key) = try await request.write { pipeline, viewer in
            let key = append(&pipeline, viewer)
            if outcome == .didNotFinish { pipeline.replaceDeckSoon(of: viewer.userID) }
            read.append([id], to: &pipeline, for: viewer)
            return key
        }
        guard let outcome = results[key].first else { throw .internalError }
        if let error = outcome.error { throw error }
        return try read.only(results.last, orElse: .noSuchRead)
    }

    /// The outcome of a function of migrations/functions/reads.sql.
    private struct Outcome: RowDecodable {
        let error: BookplateError?

        init?(_ row: inout RowReader) {
            let outcome = row.text()
            let other = row.uuid()
            error =
                switch outcome {
                case "DONE": nil
                case "BOOK": .notFound(.noSuchBook)
                case "READ": .notFound(.noSuchRead)
                case "OPEN":
                    .conflict(
                        .init(.readIsOpen),
                        id: other?.description, field: "outcome")
                case "FULL":
                    .badUserInput(field: "id", .init(.limitReached, max: ofBookMax))
                case "TAKEN": ChosenID.takenError
                case "DELETED":
                    .conflict(.init(.deleted), field: "id")
                case "DATES": ReadInput.datesReversed
                case "OPEN_END": ReadInput.openWithEnd
                default: .internalError
                }
        }

        static let add = TypedStatement<Self>("SELECT outcome, other_id FROM add_read($1, $2, $3)")
        static let change = TypedStatement<Self>(
            "SELECT outcome, other_id FROM change_read($1, $2, $3)")
    }

    private static let deleteRead = TypedStatement<ParentOfDeleted>("SELECT delete_read($1, $2)")
}
