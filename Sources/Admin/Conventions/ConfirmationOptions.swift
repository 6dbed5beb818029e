import ArgumentParser
import Glibc

/// `--yes` on everything that destroys: without it, a person types the name of what goes.
struct ConfirmationOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Do it without asking.")
    var yes = false

    /// Goes on only where `--yes` is given or the name is typed.
    ///
    /// - Parameters:
    ///   - consequence: what will happen, as a sentence.
    ///   - isInteractive: whether somebody can be asked.
    /// - Throws: `.usage` where nobody can be asked, `.failed` where another answer came.
    func confirm(
        _ consequence: String, byTyping name: String,
        isInteractive: Bool = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1,
        answer: () -> String? = { readLine() }
    ) throws(Failure) {
        if yes { return }
        guard isInteractive else {
            throw Failure("\(consequence) Nobody can be asked here: pass --yes to do it.", .usage)
        }
        tell("\(consequence) Type \(name) to do it:")
        guard answer() == name else { throw Failure("not confirmed: nothing was done") }
    }
}
