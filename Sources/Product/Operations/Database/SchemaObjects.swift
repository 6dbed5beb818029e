/// The triggers, functions, constraints, indexes, and columns of a database or of a release.
///
/// Those of a release are read from the dump `migrations/schema.sql` and from the functions in `migrations/`.
package struct SchemaObjects: Sendable {
    package enum Kind: String, Sendable {
        case trigger, function, constraint, index, column
    }

    package struct Name: Hashable, Sendable {
        package let kind: Kind
        /// Such as `log_insert on public.books`, or `public.app_user_id` for a function.
        package let text: String
    }

    /// The statements that create the objects, or the bodies of the functions with a name.
    private(set) var definitions: [Name: Set<String>] = [:]
    /// The objects without effect: disabled triggers, invalid indexes, and constraints that are not enforced for all rows.
    private(set) var disabled: Set<Name> = []

    init() {}

    /// Reads the objects of a release.
    ///
    /// - Parameters:
    ///   - dump: The text of pg_dump.
    ///   - migrations: The texts of the migration files, which contain the functions.
    package init(dump: String, migrations: [String]) {
        for statement in dump.split(separator: ";\n") { add(statement: statement) }
        for text in migrations {
            let functions = text.split(
                separator: /CREATE (OR REPLACE )?(FUNCTION|PROCEDURE)\s/,
                omittingEmptySubsequences: false
            ).dropFirst()
            for function in functions {
                // The body is between two `$$`.
                let parts = function.split(
                    separator: "$$", maxSplits: 2, omittingEmptySubsequences: false)
                guard parts.count == 3 else { continue }
                let name = parts[0].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                add(.function, "public.\(name)", String(parts[1]))
            }
        }
    }

    /// Adds an object.
    ///
    /// - Parameter definition: nil if the object has no effect.
    mutating func add(_ kind: Kind, _ text: String, _ definition: String?) {
        let name = Name(kind: kind, text: text)
        guard let definition else {
            disabled.insert(name)
            return
        }
        // pg_dump breaks lines that the functions of PostgreSQL do not break.
        let isBody = kind == .function
        definitions[name, default: []].insert(
            isBody ? definition : definition.split { $0.isWhitespace }.joined(separator: " "))
    }

    /// Adds the objects that a statement of a dump creates.
    private mutating func add(statement: Substring) {
        // Comments precede the statement.
        let lines = statement.split(separator: "\n").drop { $0.hasPrefix("--") }
        guard let first = lines.first else { return }
        let text = lines.joined(separator: "\n")
        if let match = first.prefixMatch(
            of: /CREATE (?:UNIQUE |CONSTRAINT )?(TRIGGER|INDEX) (\S+) (?:.*? )?ON (\S+)\s/)
        {
            add(match.1 == "TRIGGER" ? .trigger : .index, "\(match.2) on \(match.3)", text)
        } else if let match = text.wholeMatch(
            of: /ALTER TABLE (?:ONLY )?(\S+)\s+(ADD CONSTRAINT (\S+)\s[\s\S]*)/)
        {
            add(.constraint, "\(match.3) on \(match.1)", "ALTER TABLE \(match.1) \(match.2)")
        } else if let match = first.wholeMatch(of: /CREATE (?:UNLOGGED )?TABLE (\S+) \(/) {
            // The parameters of the table follow its columns.
            let end = text.firstRange(of: "\n)")?.lowerBound ?? text.endIndex
            for part in text[..<end].dropFirst(first.count).split(separator: ",\n") {
                add(part: part.trimmingPrefix(/\s+/), of: match.1, "TABLE")
            }
        } else if let match = first.prefixMatch(of: /CREATE DOMAIN (\S+)\s/) {
            for part in text.split(separator: "\n\t").dropFirst() {
                add(part: part, of: match.1, "DOMAIN")
            }
        }
    }

    /// Adds a column or constraint of a table, or a constraint of a domain.
    private mutating func add(part: Substring, of owner: Substring, _ ownerKind: String) {
        let words = part.split(separator: " ", maxSplits: 2)
        let isConstraint = words.first == "CONSTRAINT"
        guard let name = words.dropFirst(isConstraint ? 1 : 0).first else { return }
        add(
            isConstraint ? .constraint : .column, "\(name) on \(owner)",
            "ALTER \(ownerKind) \(owner) ADD \(isConstraint ? "" : "COLUMN ")\(part)")
    }

    /// A difference between a database and a release.
    package struct Difference: Sendable, Equatable, CustomStringConvertible {
        package enum State: String, Sendable {
            case missing, changed, disabled, unexpected
        }

        package let name: Name
        package let state: State
        /// The statement that creates the object of the release; nil for functions and for unexpected objects.
        package let statement: String?

        package var description: String { "\(state.rawValue) \(name.kind.rawValue) \(name.text)" }
    }

    /// Returns the differences of a database, sorted by their descriptions.
    ///
    /// Unexpected are only triggers and constraints: other additions cannot make a write fail.
    ///
    /// - Parameter comparesStatements: False for another version of PostgreSQL than that of the dump, which prints expressions
    ///   differently. Functions are always compared.
    func differences(of database: SchemaObjects, comparesStatements: Bool) -> [Difference] {
        var states = Dictionary(
            uniqueKeysWithValues: database.disabled.map { ($0, Difference.State.disabled) })
        for (name, expected) in definitions where states[name] == nil {
            guard let present = database.definitions[name] else {
                states[name] = .missing
                continue
            }
            if comparesStatements || name.kind == .function, !present.isSubset(of: expected) {
                states[name] = .changed
            }
        }
        for name in database.definitions.keys where definitions[name] == nil {
            if [.trigger, .constraint].contains(name.kind) { states[name] = .unexpected }
        }
        return states.map { name, state in
            Difference(
                name: name, state: state,
                statement: name.kind == .function ? nil : definitions[name]?.first)
        }.sorted { $0.description < $1.description }
    }
}
