/// The variables that a configuration is read from.
///
/// A name becomes known when it is read. The other names with our prefix are unknown.
struct Variables {
    static let prefix = "BOOKPLATE_"
    /// Names that only the tests read; programs that they start may see them.
    static let testPrefix = "BOOKPLATE_TEST_"

    private let values: [String: String]
    private var known: Set<String> = []

    init(_ values: [String: String]) { self.values = values }

    /// The value of a variable; nil where it is absent or empty.
    mutating func optional<Value>(
        _ name: String, read: (String) throws(Malformed) -> Value
    ) throws(ConfigError) -> Value? {
        known.insert(name)
        guard let text = values[name], !text.isEmpty else { return nil }
        do throws(Malformed) {
            return try read(text)
        } catch {
            throw ConfigError(name, error.reason)
        }
    }

    /// The same for a source that has a default and that an empty value switches off.
    mutating func switchable<Value>(
        _ name: String, default value: Value, read: (String) throws(Malformed) -> Value
    ) throws(ConfigError) -> Value? {
        known.insert(name)
        if values[name] == "" { return nil }
        return try optional(name, read: read) ?? value
    }

    /// The variables with our prefix that were not read, ordered by name.
    var unknown: [UnknownVariable] {
        values.keys.filter {
            $0.hasPrefix(Self.prefix) && !$0.hasPrefix(Self.testPrefix) && !known.contains($0)
        }
        .sorted().map { UnknownVariable($0, among: known) }
    }
}

/// Why a value cannot be read; a clause that follows the variable's name.
struct Malformed: Error {
    var reason: String

    init(_ reason: String) { self.reason = reason }
}
