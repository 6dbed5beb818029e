import GraphQL

/// A manual page in mdoc, made from what the argument parser knows of a command and those below it.
///
/// Format: https://man.openbsd.org/mdoc.7
struct ManualPage {
    private var lines: [String] = []

    var text: String { lines.joined(separator: "\n") + "\n" }

    /// - Parameter command: as `--experimental-dump-help` has it.
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
            (ExitStatus.done, "done"), (.failed, "failed; what was said on standard error is why"),
            (.found, "a check found something wrong"), (.usage, "the command was not understood"),
            (.unavailable, "the database or something outside cannot be reached"),
            (.configuration, "a variable is missing or wrong"),
        ] {
            lines += [".It \(status.rawValue)", meaning]
        }
        lines += [".El", ".Sh ENVIRONMENT"]
        lines += [".Ev BOOKPLATE_ADMIN_DATABASE_URL", "or", ".Ev DATABASE_URL"]
        lines.append(
            "says where the database is. All variables are described in docs/operations.md.")
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

    /// Paragraphs as they are; what is indented is an example and keeps its lines.
    private mutating func addText(_ text: String?) {
        guard let text, !text.isEmpty else { return }
        var isLiteral = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let wantsLiteral = line.hasPrefix("  ")
            if wantsLiteral != isLiteral {
                lines.append(wantsLiteral ? ".Bd -literal -offset 2n" : ".Ed")
            }
            isLiteral = wantsLiteral
            lines.append(
                line.isEmpty
                    ? ".Pp" : Self.escaped(isLiteral ? String(line.dropFirst(2)) : String(line)))
        }
        if isLiteral { lines.append(".Ed") }
    }

    /// Text that roff takes as it stands.
    private static func escaped(_ text: String) -> String {
        let text = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
    }
}
