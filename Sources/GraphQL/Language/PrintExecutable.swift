extension OperationDefinition {
    /// A query without name, variables, directives and description takes the short form.
    var printed: String {
        let head = words([
            kind.rawValue, (name?.value ?? "") + list(variables.map(\.printed)),
            directives.printed,
        ])
        let text = printedLine(description) + head
        return (text == "query" ? "" : text + " ") + selectionSet.printed
    }
}

extension FragmentDefinition {
    var printed: String {
        printedLine(description)
            + words([
                "fragment", name.value, "on", typeCondition.value, directives.printed,
                selectionSet.printed,
            ])
    }
}

extension VariableDefinition {
    fileprivate var printed: String {
        let value = defaultValue.map { " = " + print($0) } ?? ""
        return printedLine(description)
            + words(["$\(name.value): \(print(type))\(value)", directives.printed])
    }
}

extension SelectionSet {
    /// Each selection in a line of its own, the sets inside deeper by two spaces.
    fileprivate var printed: String {
        var text = "{"
        // What is left of the sets around the place: a stack instead of recursion.
        var sets = [selections[...]]
        while var rest = sets.popLast() {
            guard let selection = rest.popFirst() else {
                text += lineBreak(depth: sets.count) + "}"
                continue
            }
            sets.append(rest)
            let depth = sets.count
            text += lineBreak(depth: depth) + indented(selection.printedHead, depth: depth)
            guard let inner = selection.selectionSet else { continue }
            text += " {"
            sets.append(inner.selections[...])
        }
        return text
    }
}

extension Selection {
    /// Without its own selections.
    fileprivate var printedHead: String {
        switch self {
        case .field(let field): field.printedHead
        case .fragmentSpread(let spread):
            words(["..." + spread.name.value, spread.directives.printed])
        case .inlineFragment(let fragment):
            words([
                "...", fragment.typeCondition.map { "on " + $0.value } ?? "",
                fragment.directives.printed,
            ])
        }
    }

    fileprivate var selectionSet: SelectionSet? {
        switch self {
        case .field(let field): field.selectionSet
        case .fragmentSpread: nil
        case .inlineFragment(let fragment): fragment.selectionSet
        }
    }
}

extension Field {
    /// Arguments stand in one line, or each in its own where the line would exceed 80 characters.
    fileprivate var printedHead: String {
        let name = (alias.map { $0.value + ": " } ?? "") + name.value
        let arguments = arguments.map(\.printed)
        var line = name + parenthesized(arguments)
        if line.utf16.count > 80, !arguments.isEmpty {
            line = name + "(\n" + indented(arguments.joined(separator: "\n")) + "\n)"
        }
        return words([line, directives.printed])
    }
}

extension Argument {
    fileprivate var printed: String { "\(name.value): \(print(value))" }
}

extension Collection<Directive> {
    var printed: String {
        words(map { "@" + $0.name.value + parenthesized($0.arguments.map(\.printed)) })
    }
}

/// `(a, b)`, or nothing where there are none.
func parenthesized(_ items: [String]) -> String {
    items.isEmpty ? "" : "(" + items.joined(separator: ", ") + ")"
}

/// Variable definitions: each in its own line where one of them has lines of its own.
private func list(_ items: [String]) -> String {
    items.contains { $0.utf8.contains(UInt8(ascii: "\n")) }
        ? "(\n" + items.joined(separator: "\n") + "\n)" : parenthesized(items)
}
