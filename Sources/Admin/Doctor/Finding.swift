import GraphQL

/// One line of `doctor`: what was looked at, how it is, and what to do where it is wrong.
struct Finding {
    enum State: String {
        case ok, warning, wrong
        /// Not looked at, as what it needs is wrong already or was not asked for.
        case skipped
    }

    let check: String
    let state: State
    let message: String
    /// What to do; nil where nothing is to be done.
    let remedy: String?

    static func ok(_ check: String, _ message: String) -> Finding {
        Finding(check: check, state: .ok, message: message, remedy: nil)
    }

    static func warning(_ check: String, _ message: String, _ remedy: String) -> Finding {
        Finding(check: check, state: .warning, message: message, remedy: remedy)
    }

    static func wrong(_ check: String, _ message: String, _ remedy: String) -> Finding {
        Finding(check: check, state: .wrong, message: message, remedy: remedy)
    }

    static func skipped(_ check: String, _ message: String) -> Finding {
        Finding(check: check, state: .skipped, message: message, remedy: nil)
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
