import GraphQL

/// The result of a check of `doctor`, which prints it as one line.
struct CheckResult {
    enum State: String {
        case ok, warning, wrong
        /// The check was not run, because another check failed or an option disables it.
        case skipped
    }

    let check: String
    let state: State
    let message: String
    /// What the operator should do. nil if nothing is to be done.
    let remedy: String?

    static func ok(_ check: String, _ message: String) -> CheckResult {
        CheckResult(check: check, state: .ok, message: message, remedy: nil)
    }

    static func warning(_ check: String, _ message: String, _ remedy: String) -> CheckResult {
        CheckResult(check: check, state: .warning, message: message, remedy: remedy)
    }

    static func wrong(_ check: String, _ message: String, _ remedy: String) -> CheckResult {
        CheckResult(check: check, state: .wrong, message: message, remedy: remedy)
    }

    static func skipped(_ check: String, _ message: String) -> CheckResult {
        CheckResult(check: check, state: .skipped, message: message, remedy: nil)
    }

    var line: String {
        let padded = state.rawValue + String(repeating: " ", count: 8 - state.rawValue.count)
        return "\(padded)\(check): \(message)" + (remedy.map { ": \($0)" } ?? "")
    }

    var json: Value {
        .object([
            .init("check", .string(check)), .init("state", .string(state.rawValue)),
            .init("message", .string(message)),
            .init("remedy", remedy.map { .string($0) } ?? .null),
        ])
    }
}
