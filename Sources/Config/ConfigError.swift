/// A variable that stops the program at start.
package struct ConfigError: Error, Equatable, CustomStringConvertible {
    /// The status to exit with: EX_CONFIG of sysexits.h.
    package static let exitCode: Int32 = 78

    /// The variable's name, or the file's where a line of it cannot be read.
    package var name: String
    /// What is wrong and what would be right; never the value, which may be a secret.
    package var reason: String

    package init(_ name: String, _ reason: String) {
        self.name = name
        self.reason = reason
    }

    package var description: String { "\(name) \(reason)" }
}
