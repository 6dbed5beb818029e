/// The variables that a configuration is read from.
///
/// Reading a variable makes its name known. All other names with our prefix are unknown.
struct Variables {
    static let prefix = "BOOKPLATE_"
    /// The prefix of variables that only the tests read. Programs that the tests start inherit them.
    static let testPrefix = "BOOKPLATE_TEST_"

    private let values: [String: String]
    private var known: Set<String> = []

    init(_ values: [String: String]) { self.values = values }

    /// Returns the value of a variable, or nil if it is absent or empty.
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

    /// Returns the value of a variable, `value` if it is absent, or nil if it is empty. An empty value switches a source off.
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

/// The reason why a value cannot be parsed: a clause that follows the name of the variable, such as "must be on or off".
struct Malformed: Error {
    var reason: String

    init(_ reason: String) { self.reason = reason }
}
