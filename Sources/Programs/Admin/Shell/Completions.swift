import ArgumentParser
import GraphQL

/// `bookplate-admin completions`: prints completion scripts for shells.
struct Completions: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a completion script for a shell.",
        discussion: """
            Examples:
              bookplate-admin completions bash \\
                > /etc/bash_completion.d/bookplate-admin
              bookplate-admin completions zsh \\
                > /usr/local/share/zsh/site-functions/_bookplate-admin
              bookplate-admin completions fish \\
                > ~/.config/fish/completions/bookplate-admin.fish
            """)

    enum Shell: String, ExpressibleByArgument, CaseIterable { case bash, zsh, fish }

    @OptionGroup var output: OutputOptions
    @ArgumentParser.Argument(help: "The shell: bash, zsh, or fish.")
    var shell: Shell

    func run() throws {
        // ArgumentParser uses the same names for shells.
        let script = CompletionShell(rawValue: shell.rawValue).map {
            AdminCommand.completionScript(for: $0)
        }
        output.print(
            .object([
                .init("shell", .string(shell.rawValue)), .init("script", .string(script ?? "")),
            ]), lines: [script ?? ""])
    }
}
