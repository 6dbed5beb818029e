extension OperationDefinition {
    /// Uses the shorthand form for a query without a name, variables, directives, and a
    /// description.
    var printed: String {
        let head = joinNonEmpty([
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
            + joinNonEmpty([
                "fragment", name.value, "on", typeCondition.value, directives.printed,
                selectionSet.printed,
            ])
    }
}

extension VariableDefinition {
    fileprivate var printed: String {
        let value = defaultValue.map { " = " + print($0) } ?? ""
        return printedLine(description)
            + joinNonEmpty(["$\(name.value): \(print(type))\(value)", directives.printed])
    }
}

extension SelectionSet {
    /// Prints each selection on its own line and indents nested sets by two spaces.
    fileprivate var printed: String {
        var text = "{"
        // The remaining selections of each enclosing set, innermost last: a stack instead of
        // recursion.
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
    /// The text of the selection without its selection set.
    fileprivate var printedHead: String {
        switch self {
        case .field(let field): field.printedHead
        case .fragmentSpread(let spread):
            joinNonEmpty(["..." + spread.name.value, spread.directives.printed])
        case .inlineFragment(let fragment):
            joinNonEmpty([
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
    /// Arguments are on one line, or each on its own line if that line would exceed 80 characters.
    fileprivate var printedHead: String {
        let name = (alias.map { $0.value + ": " } ?? "") + name.value
        let arguments = arguments.map(\.printed)
        var line = name + parenthesized(arguments)
        if line.utf16.count > 80, !arguments.isEmpty {
            line = name + "(\n" + indented(arguments.joined(separator: "\n")) + "\n)"
        }
        return joinNonEmpty([line, directives.printed])
    }
}

extension Argument {
    fileprivate var printed: String { "\(name.value): \(print(value))" }
}

extension Collection<Directive> {
    var printed: String {
        joinNonEmpty(map { "@" + $0.name.value + parenthesized($0.arguments.map(\.printed)) })
    }
}

/// Returns `(a, b)`, or an empty string if there are no items.
func parenthesized(_ items: [String]) -> String {
    items.isEmpty ? "" : "(" + items.joined(separator: ", ") + ")"
}

/// Returns variable definitions in parentheses: each on its own line if one of them spans several
/// lines.
private func list(_ items: [String]) -> String {
    items.contains { $0.utf8.contains(UInt8(ascii: "\n")) }
        ? "(\n" + items.joined(separator: "\n") + "\n)" : parenthesized(items)
}
