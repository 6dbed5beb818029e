import Basics
import GraphQL

/// The first word of an invalid command line that is neither a command nor an option, with a suggestion.
struct UnknownWord {
    let message: String

    /// - Parameters:
    ///   - arguments: The arguments of the program.
    ///   - program: The description of all commands, as in `--experimental-dump-help`.
    /// - Returns: nil if all commands and options are known, so the command line is invalid for another reason.
    init?(in arguments: [String], of program: Value) {
        var command = program
        var path = program["commandName"]?.string ?? ""
        var rest = arguments[...]
        while let word = rest.first, !word.hasPrefix("-"),
            let children = command["subcommands"]?.list, !children.isEmpty
        {
            guard let child = children.first(where: { $0["commandName"]?.string == word }) else {
                let names = children.compactMap { $0["commandName"]?.string }
                    .filter { $0 != "help" }
                let similar = similarName(
                    to: word, among: names, editsMax: max(1, word.utf8.count / 3))
                message =
                    "unknown command '\(word)': "
                    + (similar.map { "did you mean '\(path) \($0)'?" }
                        ?? "the commands of \(path) are \(names.joined(separator: ", "))")
                return
            }
            command = child
            path += " \(word)"
            rest.removeFirst()
        }
        let options = (command["arguments"]?.list ?? []).flatMap { argument in
            (argument["names"]?.list ?? []).compactMap { name in
                name["kind"]?.string == "long"
                    ? name["name"]?.string.map {
                        (name: $0, hasValue: argument["kind"]?.string == "option")
                    } : nil
            }
        }
        while let word = rest.popFirst(), word != "--" {
            guard word.hasPrefix("--") else { continue }
            let name = String(word.dropFirst(2).prefix { $0 != "=" })
            if let option = options.first(where: { $0.name == name }) {
                if option.hasValue, !word.contains("=") { _ = rest.popFirst() }
                continue
            }
            let similar = similarName(
                to: name, among: options.map(\.name), editsMax: max(2, name.utf8.count / 3))
            message =
                "unknown option '--\(name)': "
                + (similar.map { "did you mean '--\($0)'?" } ?? "see \(path) --help")
            return
        }
        return nil
    }
}
