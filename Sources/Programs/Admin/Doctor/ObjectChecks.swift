import EmbeddedMigrations
import Operations
import Postgres

/// Compares triggers, functions, constraints, indexes, and columns with those that this release defines.
struct ObjectChecks {
    /// The maximum number of differences that a message lists.
    private static let listedMax = 5

    private let adminURL: String
    private let differences: [SchemaObjects.Difference]

    /// - Parameter adminURL: The address of the database, with the owner's role.
    init(_ connection: AdminConnection, adminURL: String) throws(PostgresError) {
        self.adminURL = adminURL
        differences = try Self.differences(connection)
    }

    static func differences(
        _ connection: AdminConnection
    ) throws(PostgresError) -> [SchemaObjects.Difference] {
        try SchemaObjects(dump: embeddedDump, migrations: embeddedMigrations.map(\.text))
            .differences(connection)
    }

    func results() -> [CheckResult] {
        [
            result("triggers", .trigger), result("functions", .function),
            result("constraints", .constraint), result("indexes", .index),
            result("columns", .column),
        ]
    }

    private func result(_ check: String, _ kind: SchemaObjects.Kind) -> CheckResult {
        let found = differences.filter { $0.name.kind == kind }
        guard let first = found.first else { return .ok(check, "as this release defines them") }
        let more = found.count - Self.listedMax
        let list =
            found.prefix(Self.listedMax).map { "\($0.state.rawValue): \($0.name.text)" }
            .joined(separator: ", ") + (more > 0 ? ", and \(more) more" : "")
        let canBeApplied = found.contains { $0.state != .unexpected }
        if [.trigger, .function].contains(kind), canBeApplied {
            let url = adminURL
            return .wrong(
                check, list,
                "run bookplate-admin doctor --fix, and find out why it was changed. Devices do not get the changes that were made while a trigger was off",
                fix: CheckResult.Fix("define \(check) again") {
                    try SchemaObjects.restoreFunctions(
                        try AdminConnection(url),
                        from: try MigrationFiles(texts: embeddedMigrations))
                })
        }
        return .wrong(check, list, Self.remedy(first))
    }

    private static func remedy(_ difference: SchemaObjects.Difference) -> String {
        switch difference.state {
        case .unexpected:
            "find out why it was added, and drop it in psql"
        case .disabled where difference.name.kind == .constraint:
            "validate it in psql, or enable the triggers of its tables as a superuser (ALTER TABLE … ENABLE TRIGGER ALL), and find out why it was changed"
        case .disabled:
            "run REINDEX INDEX in psql, or drop it if this release does not define it"
        case .missing:
            "find out why, and run in psql as the owner: \(difference.statement ?? "")"
        case .changed:
            "find out why, and restore what this release defines: \(difference.statement ?? "")"
        }
    }
}
