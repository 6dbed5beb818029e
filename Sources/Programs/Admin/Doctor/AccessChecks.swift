import EmbeddedMigrations
import Operations
import Postgres

/// Compares privileges, policies, and row-level security with those that this release defines.
struct AccessChecks {
    /// The maximum number of differences that a message lists.
    private static let listedMax = 5

    private let adminURL: String
    private let differences: SchemaAccess.Differences

    /// - Parameter adminURL: The address of the database, with the owner's role.
    init(_ connection: AdminConnection, adminURL: String) throws(PostgresError) {
        self.adminURL = adminURL
        differences = try SchemaAccess(dump: embeddedDump).differences(connection)
    }

    func results() -> [CheckResult] {
        [
            result("privileges", "as this release defines them") { $0.hasPrefix("GRANT ") },
            result("policies", "as this release defines them") {
                $0.hasPrefix("CREATE POLICY ")
            },
            result("row security", "forced on every table with users' rows") {
                $0.hasPrefix("ALTER TABLE ")
            },
        ]
    }

    private func result(
        _ check: String, _ sound: String, _ isIncluded: (String) -> Bool
    ) -> CheckResult {
        let missing = differences.missing.filter(isIncluded)
        guard missing.isEmpty else {
            let url = adminURL
            return .wrong(
                check, "missing or changed: \(Self.list(missing))",
                "run bookplate-admin doctor --fix, and find out why it was changed",
                fix: CheckResult.Fix(
                    "restore \(missing.count) of the \(check == "row security" ? "settings of row security" : check)"
                ) {
                    try SchemaAccess.restore(missing, try AdminConnection(url))
                })
        }
        let unexpected = differences.unexpected.filter(isIncluded)
        guard unexpected.isEmpty else {
            return .wrong(
                check, "unexpected: \(Self.list(unexpected))",
                "find out why it was added, and run in psql: \(SchemaAccess.removal(of: unexpected[0]))"
            )
        }
        return .ok(check, sound)
    }

    private static func list(_ statements: [String]) -> String {
        let names = statements.prefix(listedMax).map { SchemaAccess.policy($0) ?? $0 }
        let more = statements.count - names.count
        return names.joined(separator: ", ") + (more > 0 ? ", and \(more) more" : "")
    }
}
