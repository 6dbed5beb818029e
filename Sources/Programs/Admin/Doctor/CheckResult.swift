import GraphQL

/// The result of a check of `doctor`, which prints it as one line.
struct CheckResult: Sendable {
    enum State: String {
        case ok, warning, wrong
        /// The check was not run, because another check failed or an option disables it.
        case skipped

        var style: Terminal.Style {
            switch self {
            case .ok: .green
            case .warning: .yellow
            case .wrong: .red
            case .skipped: .bold
            }
        }
    }

    /// A safe correction of a problem, which `doctor --fix` makes.
    struct Fix: Sendable {
        /// A description of the correction, as an infinitive: `restore 2 of the privileges`.
        let description: String
        let run: @Sendable () throws -> Void

        init(_ description: String, run: @escaping @Sendable () throws -> Void) {
            self.description = description
            self.run = run
        }
    }

    let check: String
    let state: State
    let message: String
    /// The action for the operator; nil if nothing is to be done.
    let remedy: String?
    let fix: Fix?

    static func ok(_ check: String, _ message: String) -> CheckResult {
        CheckResult(check: check, state: .ok, message: message, remedy: nil, fix: nil)
    }

    static func warning(_ check: String, _ message: String, _ remedy: String) -> CheckResult {
        CheckResult(check: check, state: .warning, message: message, remedy: remedy, fix: nil)
    }

    static func wrong(
        _ check: String, _ message: String, _ remedy: String, fix: Fix? = nil
    ) -> CheckResult {
        CheckResult(check: check, state: .wrong, message: message, remedy: remedy, fix: fix)
    }

    static func skipped(_ check: String, _ message: String) -> CheckResult {
        CheckResult(check: check, state: .skipped, message: message, remedy: nil, fix: nil)
    }

    var line: String {
        let padding = String(repeating: " ", count: 8 - state.rawValue.count)
        return Terminal.styled(state.rawValue, state.style) + padding + "\(check): \(message)"
            + (remedy.map { ": \($0)" } ?? "")
    }

    var json: Value {
        .object([
            .init("check", .string(check)), .init("state", .string(state.rawValue)),
            .init("message", .string(message)),
            .init("remedy", remedy.map { .string($0) } ?? .null),
            .init("canBeFixed", .boolean(fix != nil)),
        ])
    }
}
