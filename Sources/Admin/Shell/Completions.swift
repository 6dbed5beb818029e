import ArgumentParser
import GraphQL

/// `bookplate-admin completions`: what a shell needs to complete these commands.
struct Completions: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints a shell's completion script.",
        discussion: """
            Examples:
              bookplate-admin completions bash > /etc/bash_completion.d/bookplate-admin
              bookplate-admin completions zsh > /usr/local/share/zsh/site-functions/_bookplate-admin
              bookplate-admin completions fish > ~/.config/fish/completions/bookplate-admin.fish
            """)

    enum Shell: String, ExpressibleByArgument, CaseIterable { case bash, zsh, fish }

    @OptionGroup var output: OutputOptions
    @ArgumentParser.Argument(help: "bash, zsh or fish.")
    var shell: Shell

    func run() throws {
        // The parser's own shells have the same names.
        let script = CompletionShell(rawValue: shell.rawValue).map {
            AdminCommand.completionScript(for: $0)
        }
        output.print(
            .object([
                .init("shell", .string(shell.rawValue)), .init("script", .string(script ?? "")),
            ]), lines: [script ?? ""])
    }
}
