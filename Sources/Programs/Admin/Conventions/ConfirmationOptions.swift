import ArgumentParser
import Glibc

/// The option `--yes` of commands that delete data. Without it, the operator has to type the name of what is deleted.
struct ConfirmationOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
    var yes = false

    /// Asks for confirmation unless `--yes` is given.
    ///
    /// - Parameters:
    ///   - consequence: A sentence that describes what will happen.
    ///   - name: The text that the operator has to type.
    ///   - isInteractive: Whether standard input and standard error are terminals.
    /// - Throws: `.usage` if the command is not interactive, `.failed` if the operator types another text.
    func confirm(
        _ consequence: String, byTyping name: String,
        isInteractive: Bool = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1,
        answer: () -> String? = { readLine() }
    ) throws(Failure) {
        if yes { return }
        guard isInteractive else {
            throw Failure("\(consequence) Use --yes to confirm.", .usage)
        }
        printError("\(consequence) Type \(name) to confirm:")
        guard answer() == name else {
            throw Failure(
                "not confirmed, so nothing was changed: run the command again, and type the text exactly"
            )
        }
    }
}
