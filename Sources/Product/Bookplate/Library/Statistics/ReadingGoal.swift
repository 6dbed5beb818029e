import GraphQL
import GraphQLPostgres
import Postgres
import Requests

/// How many books, pages, or hours a reader wants to read in a year.
enum ReadingGoal {
    private static let id = Column("g.id", .uuid)
    /// The maximum number of goals of a reader.
    static let ofReaderMax = 100
    static let targetMax = 1_000_000
    static let yearsAheadMax = 10
    /// The years of goals and of statistics.
    static let years = 1000...9998

    private static let progress = "reading_goal_progress($1, g.year, g.unit)"
    private static let expected = """
        g.target * elapsed_part(
            g.year, (SELECT (now() AT TIME ZONE known_zone(u.time_zone))::date FROM users u WHERE u.id = $1)
        )
        """

    static let type: RowType = RowType(
        name: "ReadingGoal", table: "reading_goals g", scope: "g.user_id = $1", id: id,
        fields: [
            "id": .column(id),
            "year": .column(Column("g.year", .integer)),
            "unit": .column(Column("g.unit", .text)),
            "target": .column(Column("g.target", .integer)),
            "progress": .column(Column(progress, .float)),
            "expected": .column(Column(expected, .float)),
            "isOnTrack": .column(Column("\(progress) >= floor(\(expected))", .boolean)),
            "isReached": .column(Column("\(progress) >= g.target", .boolean)),
            "createdAt": .column(Column("g.created_at", .timestamp)),
            "updatedAt": .column(Column("g.updated_at", .timestamp)),
        ])

    /// The goals of the year in the argument; all goals without it.
    static let ofUser = RowRelation(
        .many, type, key: User.id, matching: "g.user_id",
        from: """
            reading_goals g
            WHERE g.user_id = $1 AND g.user_id = $2 AND ($3::int IS NULL OR g.year = $3)
            ORDER BY g.year DESC, g.unit
            """,
        bind: { $1.append(int32: $0["year"]?.int.map { Int32(clamping: $0) }) })

    static let ofYear = RowRelation(
        .one, type, key: User.id, matching: "g.user_id",
        from: """
            reading_goals g
            WHERE g.user_id = $1 AND g.user_id = $2 AND g.year = $3::int AND g.unit = $4::goal_unit
            """,
        bind: {
            $1.append(int32: $0["year"]?.int.map { Int32(clamping: $0) })
            $1.append(text: $0["unit"]?.string ?? "BOOKS")
        })

    // MARK: - Mutations

    /// The year and the unit, which identify a goal of a reader, as a UUID for `RowsByID`.
    private static let yearAndUnit = Column(
        """
        (
            lpad(to_hex(g.year), 16, '0')
            || lpad(array_position('{\(units.joined(separator: ", "))}', g.unit::text)::text, 16, '0')
        )::uuid
        """, .uuid)
    static let units = ["BOOKS", "PAGES", "HOURS"]

    static let set = RowMutation(type, by: yearAndUnit) {
        arguments, request, goals throws(BookplateError) in
        let input = InputObject(arguments["input"])
        let id = input.text("id") == nil ? nil : try input.newID()
        guard let year = input["year"]?.int, years.contains(year) else {
            throw .badUserInput(field: "year", .init(.outOfRange, min: 1_000, max: 9_998))
        }
        guard let target = input["target"]?.int, (1...targetMax).contains(target) else {
            throw .badUserInput(field: "target", .init(.outOfRange, min: 1, max: targetMax))
        }
        let unit = input.text("unit") ?? units[0]
        let key = UUID(
            high: UInt64(year), low: UInt64((units.firstIndex(of: unit) ?? 0) + 1))
        let (results, outcomes) = try await request.write { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID)
            parameters.append(uuid: id)
            parameters.append(int32: Int32(year))
            parameters.append(text: unit)
            parameters.append(int32: Int32(target))
            let outcomes = pipeline.append(Outcome.set, parameters)
            goals.append([key], to: &pipeline, for: viewer)
            return outcomes
        }
        guard let outcome = results[outcomes].first else { throw .internalError }
        if let error = outcome.error { throw error }
        return try goals.only(results.last, orElse: .noSuchGoal)
    }

    /// Succeeds even if there is no such goal, so that clients can retry the mutation.
    static let delete = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchGoal)
        try await request.write { pipeline, viewer in
            pipeline.append(deleteGoal, .of(viewer.userID, id))
        }
        return [PlainObject(leaves: ["id": .string(id.description)])]
    }

    private static let deleteGoal = Statement("SELECT delete_reading_goal($1, $2)")

    /// The outcome of `set_reading_goal`.
    private struct Outcome: RowDecodable {
        let error: BookplateError?

        init?(_ row: inout RowReader) {
            error =
                switch row.text() {
                case "DONE": nil
                case "YEAR":
                    .badUserInput(
                        field: "year",
                        .init(.inFuture))
                case "FULL":
                    .badUserInput(
                        field: "input",
                        .init(.limitReached, max: ofReaderMax))
                case "TAKEN": ChosenID.takenError
                case "DELETED":
                    .conflict(
                        .init(.deleted), field: "id")
                default: .internalError
                }
        }

        static let set = TypedStatement<Self>(
            "SELECT set_reading_goal($1, $2, $3, $4::goal_unit, $5)")
    }
}
