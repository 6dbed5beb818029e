import ArgumentParser
import GraphQL

/// `bookplate-admin manual`: prints the manual page.
struct Manual: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the manual page.",
        discussion: """
            Examples:
              bookplate-admin manual | man -l -
              bookplate-admin manual > /usr/local/share/man/man1/bookplate-admin.1
            """)

    @OptionGroup var output: OutputOptions

    func run() throws {
        // ArgumentParser's own tools generate documentation from the same dump of all commands.
        guard let help = try? parseJSON(Array(AdminCommand._dumpHelp().utf8)),
            let command = help["command"]
        else { throw Failure("the description of the commands cannot be read") }
        let page = ManualPage(command).text
        output.print(.object([.init("page", .string(page))]), lines: [String(page.dropLast())])
    }
}
