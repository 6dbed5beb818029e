import GraphQL
import GraphQLPostgres
import Identity
import Postgres
import Requests

extension ProgressEntry {
    /// The maximum number of entries of one `logProgress`.
    static let batchMax = 100
    /// The maximum number of entries of a read; in SQL, `entries_of_read_max`.
    static let ofReadMax = 10_000

    static let log = PlainMutation(.many) { arguments, request throws(BookplateError) in
        let entries = try await Batch.entries(
            of: arguments, max: batchMax, in: request
        ) { input throws(BookplateError) in try ProgressInput(input) }
        let valid = entries.compactMap { try? $0.get() }
        var errors: [BookplateError?] = []
        if !valid.isEmpty {
            let problems = try await request.write { pipeline, viewer in
                var parameters = Parameters.of(viewer.userID)
                parameters.append(jsonb: .list(valid.map(\.json)))
                return pipeline.append(Problem.log, parameters)
            }
            errors = problems.map(\.error)
        }
        return Batch.results(entries, errors, in: request) { entry in
            PlainObject(ids: ["entry": [entry.id]])
        }
    }

    static let logResultFields: [String: FieldResolver] = [
        "entry": .load(RowsOfPlainObject(.one, type)),
        "error": .load(PlainObjectsField(.one)),
    ]

    static let update = RowMutation(type) { arguments, request, entry throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchProgress)
        let changes = try ProgressInput.changes(InputObject(arguments["input"]))
        let (results, problem) = try await request.write { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID, id)
            parameters.append(jsonb: changes)
            let problem = pipeline.append(Problem.change, parameters)
            entry.append([id], to: &pipeline, for: viewer)
            return problem
        }
        if let error = results[problem].first?.error { throw error }
        return try entry.only(results.last, orElse: .noSuchProgress)
    }

    /// Succeeds even if there is no such entry, so that clients can retry the mutation.
    static let delete = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchProgress)
        let reads = try await request.write { pipeline, viewer in
            pipeline.append(deleteEntry, .of(viewer.userID, id))
        }
        return [
            PlainObject(
                leaves: ["id": .string(id.description)], ids: ["read": reads.compactMap { $0.id }])
        ]
    }

    static let deletePayloadFields: [String: FieldResolver] = [
        "id": .property, "read": .load(RowsOfPlainObject(.one, Read.type)),
    ]

    /// The problem of an entry, from `log_progress` or `change_progress`.
    private struct Problem: RowDecodable {
        let error: BookplateError?

        init?(_ row: inout RowReader) {
            let problem = row.text()
            let pageCount = row.int32() ?? 0
            let lengthSeconds = row.int32() ?? 0
            error =
                switch problem {
                case nil: nil
                case "READ": .notFound(.noSuchRead)
                case "ENTRY": .notFound(.noSuchProgress)
                case "TAKEN": ChosenID.takenError
                case "DELETED": .notFound(.deleted)
                case "FULL":
                    .badUserInput(
                        field: "readId",
                        .init(.limitReached, max: ofReadMax))
                case "PAGE":
                    .badUserInput(
                        field: "page",
                        .init(.beyondEnd, max: Int(pageCount)))
                case "SECONDS":
                    .badUserInput(
                        field: "seconds",
                        .init(.beyondEnd, max: Int(lengthSeconds))
                    )
                default: .internalError
                }
        }

        static let log = TypedStatement<Self>(
            "SELECT problem, page_count, length_seconds FROM log_progress($1, $2)")
        static let change = TypedStatement<Self>(
            "SELECT problem, page_count, length_seconds FROM change_progress($1, $2, $3)")
    }

    private static let deleteEntry = TypedStatement<ParentOfDeleted>(
        "SELECT delete_progress($1, $2)")
}

/// An entry to log: the input type `LogProgressInput`.
struct ProgressInput {
    let id: UUID
    /// The entry as an element of the parameter of `log_progress`.
    let json: Value

    /// - Throws: `.badUserInput` with the name of the field, or `.notFound` if the id of the read is not a UUID.
    init(_ input: InputObject) throws(BookplateError) {
        id = try input.newID()
        let read = try input.id("readId", else: .noSuchRead)
        guard let position = try Self.position(input) else { throw Self.wrongPosition }
        var members: [Value.Member] = [
            .init("id", .string(id.description)), .init("readId", .string(read.description)),
            position,
        ]
        if let at = try Self.time(input, "at") { members.append(.init("at", .string(at))) }
        if let note = try input.note() { members.append(.init("note", .string(note))) }
        json = .object(members)
    }

    /// Returns the changes of an `UpdateProgressInput` as the parameter of `change_progress`.
    static func changes(_ input: InputObject) throws(BookplateError) -> Value {
        var members: [Value.Member] = []
        if input.isGiven("at") {
            guard let at = try time(input, "at") else {
                throw .badUserInput(field: "at", .init(.required))
            }
            members.append(.init("at", .string(at)))
        }
        if let position = try position(input) {
            members.append(.init("position", .object([position])))
        }
        if input.isGiven("note") {
            members.append(.init("note", try input.note().map { .string($0) } ?? .null))
        }
        if let changedAt = input.text("changedAt").flatMap({ Instant($0) }) {
            members.append(.init("changedAt", .string(changedAt.preciseText)))
        }
        return .object(members)
    }

    static let positions = ["page", "percent", "seconds"]
    static let wrongPosition = BookplateError.badUserInput(
        field: "percent",
        .init(
            .conflictingFields, value: "`page`, `percent`, `seconds`",
            detail: "Send exactly one of page, percent, and seconds."))
    /// How far a time may be in the future: device clocks may be ahead, and an app may send a local time as UTC.
    private static let toleranceSeconds: Int64 = 86_400

    /// Returns the only position of the input; nil if none of the fields is present.
    ///
    /// - Parameter wrongPosition: The error if the input has no position or several.
    static func position(
        _ input: InputObject, orElse wrongPosition: BookplateError = wrongPosition
    ) throws(BookplateError) -> Value.Member? {
        guard positions.contains(where: { input.isGiven($0) }) else { return nil }
        let given = positions.compactMap { name in
            input[name].flatMap { $0.isNull ? nil : (name: name, value: $0) }
        }
        guard given.count == 1, let (name, value) = given.first else { throw wrongPosition }
        if name == "percent" {
            let percent: Double? =
                switch value {
                case .int(let number): Double(number)
                case .float(let number): number
                default: nil
                }
            guard let percent, (0...100).contains(percent) else {
                throw .badUserInput(field: name, .init(.outOfRange, min: 0, max: 100))
            }
            return .init(name, .float(percent))
        }
        return .init(name, .int(Int(try input.index(name))))
    }

    /// Returns a time that is at most a day in the future; nil if the field is absent or null.
    static func time(
        _ input: InputObject, _ name: String
    ) throws(BookplateError) -> String? {
        guard let instant = input.text(name).flatMap({ Instant($0) }) else { return nil }
        guard instant.microseconds <= (unixSecondsNow() + toleranceSeconds) * 1_000_000 else {
            throw .badUserInput(field: name, .init(.inFuture))
        }
        return instant.preciseText
    }
}
