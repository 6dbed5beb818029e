/// An invalid or missing variable. The program exits at start.
package struct ConfigError: Error, Equatable, CustomStringConvertible {
    /// The exit status of the program: `EX_CONFIG` of sysexits.h.
    package static let exitCode: Int32 = 78

    /// The name of the variable, or the file and line number of a line that cannot be parsed.
    package var name: String
    /// What is wrong and what to do about it. Values of secret variables are never included.
    package var reason: String

    package init(_ name: String, _ reason: String) {
        self.name = name
        self.reason = reason
    }

    package var description: String { "\(name) \(reason)" }
}
