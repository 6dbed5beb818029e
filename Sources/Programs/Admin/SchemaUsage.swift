import ArgumentParser
import GraphQL
import Operations
import Postgres

extension SchemaCommand {
    struct Usage: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print which apps use the fields, arguments, and values of the schema.",
            discussion: """
                The servers count each executed operation once for each element that it uses, by the name and version that the \
                app sends in the headers GraphQL-Client-Name and GraphQL-Client-Version. They store the counts once per minute, \
                by day (UTC), and keep them for 400 days.

                Examples:
                  bookplate-admin schema usage --deprecated
                  bookplate-admin schema usage --field Book.author --days 30 --json
                """)

        @OptionGroup var output: OutputOptions
        @Flag(help: "Print only deprecated elements, including those that were not used.")
        var deprecated = false
        @Option(help: "Print only this element, such as Book.title or 'Query.book(id:)'.")
        var field: String?
        @Option(help: "The number of days, including today.")
        var days = 90

        func validate() throws {
            guard days > 0 else { throw ValidationError("--days must be at least 1.") }
            guard field.map({ SchemaCoordinate($0) != nil }) ?? true else {
                throw ValidationError("--field must be a coordinate, such as Book.title.")
            }
        }

        func run() throws {
            let schema = try SchemaCommand.served()
            let connection = try connect(try loadConfiguration())
            let records = try UsageRecord.all(days: days, coordinate: field, connection)
            let firstDay = try UsageRecord.firstDay(connection)
            let used = Dictionary(grouping: records, by: \.coordinate)
            let elements = coordinates(used.keys.sorted(), schema).map { coordinate in
                ElementUsage(
                    coordinate: coordinate, deprecation: schema.deprecation(at: coordinate),
                    records: used[coordinate] ?? [])
            }
            output.print(
                .object([
                    .init("days", .int(days)),
                    .init("countedSince", firstDay.map { .string($0) } ?? .null),
                    .init("elements", .list(elements.map(\.json))),
                ]),
                lines: elements.flatMap(\.lines) + [
                    firstDay.map { "counted since \($0)" } ?? "nothing was counted yet"
                ])
        }

        /// Returns the elements to print.
        private func coordinates(_ used: [String], _ schema: Schema) -> [String] {
            guard deprecated else { return field.map { [$0] } ?? used }
            return schema.deprecatedElements.filter { field == nil || field == $0 }
        }
    }
}

/// The uses of one element.
struct ElementUsage {
    let coordinate: String
    /// Nil if the element is not deprecated.
    let deprecation: String?
    let records: [UsageRecord]

    var lines: [String] {
        let uses = records.reduce(0) { $0 + $1.uses }
        return [
            "\(coordinate)\t\(uses) uses" + (deprecation.map { "\tdeprecated: \($0)" } ?? "")
        ] + records.map { "  \($0.client)\t\($0.uses) uses\tlast on \($0.lastUsedOn)" }
    }

    var json: Value {
        .object([
            .init("coordinate", .string(coordinate)),
            .init("deprecationReason", deprecation.map { .string($0) } ?? .null),
            .init("uses", .int(records.reduce(0) { $0 + $1.uses })),
            .init("lastUsedOn", records.map(\.lastUsedOn).max().map { .string($0) } ?? .null),
            .init(
                "clients",
                .list(
                    records.map { record in
                        .object([
                            .init("tenant", record.tenant.map { .string($0) } ?? .null),
                            .init("name", .string(record.app)),
                            .init("version", .string(record.version)),
                            .init("uses", .int(record.uses)),
                            .init("lastUsedOn", .string(record.lastUsedOn)),
                        ])
                    })),
        ])
    }
}

extension UsageRecord {
    /// The tenant, the app, and its version, for people.
    var client: String {
        [tenant ?? "(not signed in)", app.isEmpty ? "(unnamed)" : app, version]
            .filter { !$0.isEmpty }.joined(separator: " ")
    }
}

extension Schema {
    /// The coordinates of the deprecated elements.
    var deprecatedElements: [String] {
        elements.coordinates.map(\.description).filter { deprecation(at: $0) != nil }
    }

    /// Returns the reason why an element is deprecated; nil if it is not.
    func deprecation(at coordinate: String) -> String? {
        switch SchemaCoordinate(coordinate).flatMap({ element(at: $0) }) {
        case .field(let field): field.deprecationReason
        case .argument(let input), .inputField(let input): input.deprecationReason
        case .enumValue(let value): value.deprecationReason
        case .type, .directive, nil: nil
        }
    }
}

/// The uses of the elements that changes of a schema affect.
struct UsageEvidence {
    private let old: Schema
    private let lastUses: [String: UsageRecord]
    /// Whether the counts cover all requested days. Otherwise an element without uses may be in use.
    let coversAllDays: Bool

    init(of old: Schema, days: Int, _ connection: AdminConnection) throws {
        self.old = old
        coversAllDays = try UsageRecord.covers(days: days, connection)
        lastUses = Dictionary(
            try UsageRecord.all(days: days, connection).map { ($0.coordinate, $0) },
            uniquingKeysWith: { $0.lastUsedOn >= $1.lastUsedOn ? $0 : $1 })
    }

    enum Finding: Equatable {
        case used(on: String, by: String)
        case unused
    }

    /// Returns whether apps used what a breaking change affects; nil if that is not known, and for other changes.
    /// Directives are not counted.
    ///
    /// A required argument or input field that was added affects all uses of its field or type.
    func finding(about change: SchemaChange) -> Finding? {
        guard change.severity == .breaking else { return nil }
        let isAdded = old.element(at: change.coordinate) == nil
        let lastUse: UsageRecord?
        switch change.coordinate {
        case .argument(let type, let field, _) where isAdded: lastUse = lastUses["\(type).\(field)"]
        case .member(let type, _) where isAdded: lastUse = self.lastUse(of: type)
        case .argument, .member: lastUse = lastUses["\(change.coordinate)"]
        case .type(let type): lastUse = self.lastUse(of: type)
        case .directive, .directiveArgument: return nil
        }
        if let lastUse { return .used(on: lastUse.lastUsedOn, by: lastUse.client) }
        return coversAllDays ? .unused : nil
    }

    private func lastUse(of type: String) -> UsageRecord? {
        lastUses.values.filter { $0.coordinate.hasPrefix("\(type).") }
            .max { $0.lastUsedOn < $1.lastUsedOn }
    }
}
