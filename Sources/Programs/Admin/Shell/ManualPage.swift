import GraphQL

/// A manual page in mdoc format, generated from ArgumentParser's description of a command and its subcommands.
///
/// Format: https://man.openbsd.org/mdoc.7
struct ManualPage {
    private var lines: [String] = []

    var text: String { lines.joined(separator: "\n") + "\n" }

    /// - Parameter command: The command in the format of `--experimental-dump-help`.
    init(_ command: Value) {
        let name = command["commandName"]?.string ?? ""
        lines = [
            ".Dd November 2026", ".Dt \(name.uppercased()) 1", ".Os", ".Sh NAME", ".Nm \(name)",
            ".Nd \(Self.escaped(command["abstract"]?.string ?? ""))", ".Sh SYNOPSIS",
            ".Nm", ".Ar command", ".Op Ar options", ".Sh DESCRIPTION",
        ]
        addText(command["discussion"]?.string)
        lines.append(".Sh COMMANDS")
        addCommands(of: command, name)
        lines += [".Sh EXIT STATUS", ".Bl -tag -width 4n -compact"]
        for (status, meaning) in [
            (ExitStatus.done, "The command succeeded."),
            (.failed, "The command failed. The reason was printed to standard error."),
            (.found, "A check found a problem."),
            (.usage, "The command line is invalid."),
            (.unavailable, "The database or an external service cannot be reached."),
            (.configuration, "A variable is missing or invalid."),
        ] {
            lines += [".It \(status.rawValue)", meaning]
        }
        lines += [".El", ".Sh ENVIRONMENT"]
        lines += [".Ev BOOKPLATE_ADMIN_DATABASE_URL", "or", ".Ev DATABASE_URL"]
        lines.append(
            "is the address of the database. All variables are described in docs/configuration.md.")
    }

    private mutating func addCommands(of command: Value, _ path: String) {
        for child in command["subcommands"]?.list ?? [] {
            guard let name = child["commandName"]?.string, name != "help" else { continue }
            let children = child["subcommands"]?.list ?? []
            if children.isEmpty {
                add(child, "\(path) \(name)")
            } else {
                addCommands(of: child, "\(path) \(name)")
            }
        }
    }

    private mutating func add(_ command: Value, _ path: String) {
        let arguments = (command["arguments"]?.list ?? []).filter {
            $0["shouldDisplay"]?.boolean == true && $0["valueName"]?.string != "help"
        }
        let positional = arguments.filter { $0["kind"]?.string == "positional" }
        let words = positional.compactMap { $0["valueName"]?.string }
        lines.append(
            ".Ss \(Self.escaped(([path] + words.map { "<\($0)>" }).joined(separator: " ")))")
        addText(command["abstract"]?.string)
        addText(command["discussion"]?.string)
        guard !arguments.isEmpty else { return }
        lines.append(".Bl -tag -width Ds")
        for argument in arguments {
            let value = argument["valueName"]?.string ?? ""
            let names = (argument["names"]?.list ?? []).map { name in
                (name["kind"]?.string == "short" ? "-" : "--") + (name["name"]?.string ?? "")
            }
            let title =
                names.isEmpty
                ? "<\(value)>"
                : names.joined(separator: ", ")
                    + (argument["kind"]?.string == "option" ? " <\(value)>" : "")
            lines.append(".It \(Self.escaped(title))")
            addText(argument["abstract"]?.string)
        }
        lines.append(".El")
    }

    /// Adds paragraphs. Indented lines are examples, and their line breaks are kept.
    private mutating func addText(_ text: String?) {
        guard let text, !text.isEmpty else { return }
        var isLiteral = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let isIndented = line.hasPrefix("  ")
            if isIndented != isLiteral {
                lines.append(isIndented ? ".Bd -literal -offset 2n" : ".Ed")
            }
            isLiteral = isIndented
            lines.append(
                line.isEmpty
                    ? ".Pp" : Self.escaped(isLiteral ? String(line.dropFirst(2)) : String(line)))
        }
        if isLiteral { lines.append(".Ed") }
    }

    /// Escapes text for roff.
    private static func escaped(_ text: String) -> String {
        let text = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
    }
}
