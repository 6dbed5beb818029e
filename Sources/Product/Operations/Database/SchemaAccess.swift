import Postgres

/// The privileges of the server's role, the policies, and the tables with row-level security, as statements in the form of
/// pg_dump, with one privilege each.
///
/// The names of the roles are those of the dump, `bookplate_owner` and `bookplate_app`.
package struct SchemaAccess: Sendable, Equatable {
    package let statements: Set<String>
    /// The functions that are not executable by every role.
    private let restrictedFunctions: Set<String>

    /// Reads the statements of a dump, one per line. Other lines are ignored.
    package init(dump: String) {
        var statements: Set<String> = []
        var restricted: Set<String> = []
        for line in dump.split(separator: "\n") where line.hasSuffix(";") {
            let statement = line.dropLast()
            if statement.hasPrefix("CREATE POLICY ") {
                statements.insert(String(statement))
            } else if statement.hasPrefix("ALTER TABLE "),
                statement.hasSuffix(" ROW LEVEL SECURITY")
            {
                statements.insert(
                    String(statement).replacing("ALTER TABLE ONLY ", with: "ALTER TABLE "))
            } else if statement.hasPrefix("GRANT ") {
                statements.formUnion(Self.privileges(statement))
            } else if statement.hasPrefix("REVOKE ALL ON FUNCTION "),
                statement.hasSuffix(" FROM PUBLIC")
            {
                restricted.insert(
                    String(
                        statement.dropFirst("REVOKE ALL ON ".count).dropLast(" FROM PUBLIC".count)))
            }
        }
        self.statements = statements
        restrictedFunctions = restricted
    }

    /// Splits `GRANT SELECT,INSERT ON TABLE …` into one statement per privilege.
    private static func privileges(_ statement: Substring) -> [String] {
        guard let separator = statement.firstRange(of: " ON ") else { return [] }
        let object = statement[separator.lowerBound...]
        let names = statement[..<separator.lowerBound].dropFirst("GRANT ".count)
        return names.split(separator: ",").map { name in
            // A function has only one privilege.
            let name = name == "ALL" && object.hasPrefix(" ON FUNCTION ") ? "EXECUTE" : name
            return "GRANT \(name)\(object)"
        }
    }

    /// The differences between a database and the expected access, sorted.
    package struct Differences: Sendable, Equatable {
        package var missing: [String]
        package var unexpected: [String]
    }

    /// Returns the differences of the connection's database.
    package func differences(_ connection: AdminConnection) throws(PostgresError) -> Differences {
        var differences = differences(from: try Self.statements(connection))
        // Another version of PostgreSQL, which prints policies differently, may have written the dump.
        if !differences.unexpected.isEmpty {
            for statement in differences.missing {
                if let printed = Self.printed(statement, by: connection),
                    let index = differences.unexpected.firstIndex(of: printed)
                {
                    differences.unexpected.remove(at: index)
                    differences.missing.removeAll { $0 == statement }
                }
            }
        }
        return differences
    }

    /// - Parameter present: The statements that describe a database.
    func differences(from present: Set<String>) -> Differences {
        let unexpected = present.subtracting(statements).filter { statement in
            guard statement.hasSuffix(" TO PUBLIC") else { return true }
            // Every role may use the schema, and execute the functions that are not restricted.
            if statement == "GRANT USAGE ON SCHEMA public TO PUBLIC" { return false }
            guard statement.hasPrefix("GRANT EXECUTE ON FUNCTION ") else { return true }
            let function = statement.dropFirst("GRANT EXECUTE ON ".count)
                .dropLast(" TO PUBLIC".count)
            return restrictedFunctions.contains(String(function))
        }
        return Differences(
            missing: statements.subtracting(present).sorted(), unexpected: unexpected.sorted())
    }

    /// Executes missing statements as the owner of the tables. A policy replaces the one with the same name.
    package static func restore(
        _ missing: [String], _ connection: AdminConnection
    ) throws(PostgresError) {
        try connection.inTransaction(mapping: { $0 }) { () throws(PostgresError) in
            for statement in missing {
                if let policy = policy(statement) {
                    try connection.execute("DROP POLICY IF EXISTS \(policy)")
                }
                // The owner's role may have another name.
                try connection.execute(
                    statement.replacing(" TO bookplate_owner ", with: " TO CURRENT_USER "))
            }
        }
    }

    /// Returns the name and table of the policy that a statement creates, such as `owner_only ON public.books`.
    package static func policy(_ statement: String) -> String? {
        let words = statement.split(separator: " ", maxSplits: 5)
        guard words.count == 6, words[0] == "CREATE", words[1] == "POLICY", words[3] == "ON" else {
            return nil
        }
        return "\(words[2]) ON \(words[4])"
    }

    /// Returns the table of the policy that a statement creates, such as `public.books`.
    static func table(ofPolicy statement: String) -> String? {
        policy(statement).flatMap { $0.split(separator: " ").last.map(String.init) }
    }

    /// Returns the statement that takes an unexpected privilege or policy away.
    package static func removal(of statement: String) -> String {
        if let policy = policy(statement) { return "DROP POLICY \(policy)" }
        if statement.hasPrefix("GRANT ") {
            return "REVOKE"
                + statement.dropFirst("GRANT".count).replacing(" TO ", with: " FROM ")
        }
        return statement.replacing(" ENABLE ", with: " DISABLE ")
            .replacing(" FORCE ", with: " NO FORCE ")
    }
}
