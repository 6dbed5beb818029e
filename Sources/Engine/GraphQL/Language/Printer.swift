/// Returns the canonical text of a document. Parsing the result yields the same tree; comments are
/// lost.
///
/// The layout is that of graphql-js: two spaces per level and an empty line between definitions.
public func print(_ document: Document) -> String {
    var texts: [String] = []
    var acceptsTrailingBraces = false
    for definition in document.definitions {
        let text = print(definition)
        // After a type without fields, the brace of a shorthand query would be parsed as the fields
        // of the type.
        let wouldBeMisread =
            acceptsTrailingBraces && text.utf8.first == UInt8(ascii: "{")
            && texts.last?.utf8.last != UInt8(ascii: "}")
        texts.append(wouldBeMisread ? "query " + text : text)
        acceptsTrailingBraces = definition.acceptsTrailingBraces
    }
    return texts.joined(separator: "\n\n")
}

extension Definition {
    /// Whether a `{` after this definition would be parsed as part of it if its last part is
    /// missing.
    fileprivate var acceptsTrailingBraces: Bool {
        switch self {
        case .typeSystem(.schema): true
        case .typeSystem(.type(let type)):
            switch type.body {
            case .object, .interface, .enumeration, .inputObject: true
            case .scalar, .union: false
            }
        case .operation, .fragment, .typeSystem(.directive): false
        }
    }
}

/// Returns the canonical text of one definition.
package func print(_ definition: Definition) -> String {
    switch definition {
    case .operation(let operation): operation.printed
    case .fragment(let fragment): fragment.printed
    case .typeSystem(let definition): definition.printed
    }
}

/// Returns the canonical text of a type reference: `[Book!]!`.
public func print(_ type: TypeReference) -> String {
    switch type {
    case .named(let name): name.value
    case .list(let inner, _): "[\(print(inner))]"
    case .nonNull(let inner, _): "\(print(inner))!"
    }
}

/// Returns the canonical text of a value: `{tags: ["a", "b"], rating: 4.5}`.
package func print(_ value: ValueNode) -> String {
    let tree = value.reference.tree
    var text = ""
    /// The open lists and objects, innermost last, each with the index after its last descendant.
    var enclosing: [(index: Int32, end: Int32, isList: Bool)] = []
    func closeContainers(endingAt index: Int32) {
        while let innermost = enclosing.last, innermost.end <= index {
            text += innermost.isList ? "]" : "}"
            enclosing.removeLast()
        }
    }
    let end = value.reference.node.next
    for index in value.reference.index..<end {
        closeContainers(endingAt: index)
        let reference = NodeReference(tree: tree, index: index)
        let kind = reference.kind
        if let innermost = enclosing.last, innermost.isList || kind == .objectField,
            index > innermost.index + 1
        {
            text += ", "
        }
        switch kind {
        case .list, .object:
            text += kind == .list ? "[" : "{"
            enclosing.append((index, reference.node.next, kind == .list))
        case .objectField: text += reference.nameText + ": "
        default: text += printLeaf(ValueNode(reference))
        }
    }
    closeContainers(endingAt: end)
    return text
}

private func printLeaf(_ value: ValueNode) -> String {
    switch value.kind {
    case .variable(let name): "$\(name)"
    case .int(let text), .float(let text), .enumeration(let text): text
    case .string(let string): print(string)
    case .boolean(let value): value ? "true" : "false"
    case .null, .list, .object: "null"
    }
}

// MARK: - Layout

/// Joins the parts that are not empty with spaces.
func joinNonEmpty(_ parts: [String]) -> String {
    parts.filter { !$0.isEmpty }.joined(separator: " ")
}

/// Returns the lines between braces, or an empty string if there are no lines.
func block(_ lines: [String]) -> String {
    lines.isEmpty ? "" : "{\n" + indented(lines.joined(separator: "\n")) + "\n}"
}

func indented(_ text: String) -> String { "  " + indented(text, depth: 1) }

/// Indents every line but the first by two spaces per level.
func indented(_ text: String, depth: Int) -> String {
    guard text.utf8.contains(UInt8(ascii: "\n")) else { return text }
    let lineBreak = lineBreak(depth: depth).utf8
    var bytes: [UInt8] = []
    for byte in text.utf8 {
        if byte == UInt8(ascii: "\n") { bytes += lineBreak } else { bytes.append(byte) }
    }
    return String(decoding: bytes, as: UTF8.self)
}

func lineBreak(depth: Int) -> String { "\n" + String(repeating: "  ", count: depth) }

/// Returns a description followed by a line break, or an empty string.
func printedLine(_ description: StringValue?) -> String {
    description.map { print($0) + "\n" } ?? ""
}
