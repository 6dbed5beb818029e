import Glibc
import Version

/// The command line of the server, which has two options and is otherwise configured by environment variables.
enum CommandLineArguments {
    static let help = """
        usage: bookplate [--help | --version]

        Serves the Bookplate GraphQL API until it receives SIGTERM or SIGINT, and then
        finishes the requests in progress.

        Settings are environment variables. A variable that the environment does not
        set is read from the file `.env` in the current folder. These are the ones to
        start with; docs/configuration.md lists all of them.

          DATABASE_URL            PostgreSQL database, with the role bookplate_app.
                                  Required.
          BOOKPLATE_HOST          Address to listen on. Default: 127.0.0.1
          BOOKPLATE_PORT          Port to listen on. Default: 8080
          BOOKPLATE_ENV           development or production. Default: development
          BOOKPLATE_PUBLIC_URL    URL of the server as apps see it. Required in
                                  production.
          BOOKPLATE_SESSION_KEYS  File with the session keys, which
                                  `bookplate-admin keys rotate` creates. Required in
                                  production.

        Exit codes: 0 stopped by a signal, 1 failed, 64 unknown argument,
        69 database or port not available, 78 invalid configuration.

        """

    /// Handles `--help` and `--version`, which end the program, and refuses every other argument.
    ///
    /// - Throws: `StartError` with code 64 for an unknown argument.
    static func handle(_ arguments: [String]) throws(StartError) {
        guard let argument = arguments.first else { return }
        switch argument {
        case "--help", "-h":
            print(help, terminator: "")
            exit(0)
        case "--version":
            print("bookplate \(bookplateVersion)")
            exit(0)
        default:
            throw StartError(
                message:
                    "Unknown argument \"\(argument)\". Settings are environment variables: see bookplate --help.",
                code: 64)
        }
    }
}
