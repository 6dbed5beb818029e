import ArgumentParser
import GraphQL

/// `bookplate-admin manual`: the man page.
struct Manual: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints the manual page.",
        discussion: """
            Examples:
              bookplate-admin manual | man -l -
              bookplate-admin manual > /usr/local/share/man/man1/bookplate-admin.1
            """)

    @OptionGroup var output: OutputOptions

    func run() throws {
        // The parser tells what it knows of all commands; that is also what its own tools read.
        guard let help = try? parseJSON(Array(AdminCommand._dumpHelp().utf8)),
            let command = help["command"]
        else { throw Failure("the commands cannot be listed") }
        let page = ManualPage(command).text
        output.print(.object([.init("page", .string(page))]), lines: [String(page.dropLast())])
    }
}
