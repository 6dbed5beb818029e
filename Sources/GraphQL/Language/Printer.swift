/// The canonical text of a document: what `parse` reads back as the same tree, comments aside.
///
/// Layout is that of graphql-js: two spaces a level, an empty line between definitions.
public func print(_ document: Document) -> String {
    var texts: [String] = []
    var mayHaveBraces = false
    for definition in document.definitions {
        let text = print(definition)
        // Behind a type without fields, the brace of a short query would open its fields.
        let isMisread =
            mayHaveBraces && text.utf8.first == UInt8(ascii: "{")
            && texts.last?.utf8.last != UInt8(ascii: "}")
        texts.append(isMisread ? "query " + text : text)
        mayHaveBraces = definition.mayHaveBraces
    }
    return texts.joined(separator: "\n\n")
}

extension Definition {
    /// Whether a brace behind it, where it has none, would be read as a part of it.
    fileprivate var mayHaveBraces: Bool {
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

/// The canonical text of one definition.
public func print(_ definition: Definition) -> String {
    switch definition {
    case .operation(let operation): operation.printed
    case .fragment(let fragment): fragment.printed
    case .typeSystem(let definition): definition.printed
    }
}

/// The canonical text of a type reference: `[Book!]!`.
public func print(_ type: TypeReference) -> String {
    switch type {
    case .named(let name): name.value
    case .list(let inner, _): "[\(print(inner))]"
    case .nonNull(let inner, _): "\(print(inner))!"
    }
}

/// The canonical text of a value: `{tags: ["a", "b"], rating: 4.5}`.
public func print(_ value: ValueNode) -> String {
    let tree = value.reference.tree
    var text = ""
    /// The lists and objects around the place, with what follows them.
    var around: [(index: Int32, end: Int32, isList: Bool)] = []
    func closeThoseEnding(at index: Int32) {
        while let innermost = around.last, innermost.end <= index {
            text += innermost.isList ? "]" : "}"
            around.removeLast()
        }
    }
    let end = value.reference.node.next
    for index in value.reference.index..<end {
        closeThoseEnding(at: index)
        let reference = NodeReference(tree: tree, index: index)
        let kind = reference.kind
        if let innermost = around.last, innermost.isList || kind == .objectField,
            index > innermost.index + 1
        {
            text += ", "
        }
        switch kind {
        case .list, .object:
            text += kind == .list ? "[" : "{"
            around.append((index, reference.node.next, kind == .list))
        case .objectField: text += reference.nameText + ": "
        default: text += printLeaf(ValueNode(reference))
        }
    }
    closeThoseEnding(at: end)
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

/// What is there, with a space between.
func words(_ parts: [String]) -> String {
    parts.filter { !$0.isEmpty }.joined(separator: " ")
}

/// Lines between braces, or nothing where there are none.
func block(_ lines: [String]) -> String {
    lines.isEmpty ? "" : "{\n" + indented(lines.joined(separator: "\n")) + "\n}"
}

func indented(_ text: String) -> String { "  " + indented(text, depth: 1) }

/// The lines behind the first one, moved to the right by two spaces a level.
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

/// A description in lines of its own.
func printedLine(_ description: StringValue?) -> String {
    description.map { print($0) + "\n" } ?? ""
}
