import GraphQL

/// Returns a document as JSON in the format of graphql-js: with its kind names, empty lists for
/// missing list members, no entries for other missing members, and `loc` in UTF-16 code units.
func syntaxTree(of document: Document) -> [UInt8] {
    var writer = SyntaxTreeWriter(document)
    writer.write(document)
    return writer.bytes
}

/// Writes the nodes of a syntax tree. Nodes that can contain themselves (selection sets, values,
/// list types) are written with explicit stacks instead of recursion.
struct SyntaxTreeWriter: ~Copyable {
    private var json = ResponseWriter()
    private let offsets: UTF16Offsets

    init(_ document: Document) { offsets = UTF16Offsets(document.source) }

    var bytes: [UInt8] { json.bytes }

    mutating func write(_ document: Document) {
        let whole = SourceRange(start: 0, end: Int32(clamping: document.source.bytes.count))
        node("Document", whole) { tree in
            tree.list("definitions", document.definitions) { $0.write($1) }
        }
    }

    private mutating func write(_ definition: Definition) {
        switch definition {
        case .operation(let operation): write(operation)
        case .fragment(let fragment): write(fragment)
        case .typeSystem(let definition): write(definition)
        }
    }

    // MARK: - Nodes

    /// Writes a node. `members` writes its members between `kind` and `loc`.
    mutating func node(
        _ kind: StaticString, _ range: SourceRange, _ members: (inout Self) -> Void = { _ in }
    ) {
        open(kind)
        members(&self)
        close(range)
    }

    private mutating func open(_ kind: StaticString) {
        json.append("{\"kind\":\"")
        json.append(kind)
        json.append("\"")
    }

    private mutating func close(_ range: SourceRange) {
        json.append(",\"loc\":{\"start\":")
        json.write(offsets[range.start])
        json.append(",\"end\":")
        json.write(offsets[range.end])
        json.append("}}")
    }

    /// Writes the name of a member. The caller writes its value.
    mutating func member(_ name: StaticString) {
        json.append(",\"")
        json.append(name)
        json.append("\":")
    }

    mutating func member(_ name: StaticString, _ value: String) {
        member(name)
        json.write(value)
    }

    mutating func member(_ name: StaticString, _ value: Bool) {
        member(name)
        json.write(value)
    }

    mutating func list<Items: Collection>(
        _ name: StaticString, _ items: Items, _ write: (inout Self, Items.Element) -> Void
    ) {
        member(name)
        json.append("[")
        for (index, item) in items.enumerated() {
            if index > 0 { json.append(",") }
            write(&self, item)
        }
        json.append("]")
    }

    // MARK: - Executable definitions

    private mutating func write(_ operation: OperationDefinition) {
        node("OperationDefinition", operation.range) { tree in
            tree.description(operation.description)
            tree.member("operation", operation.kind.rawValue)
            if let name = operation.name { tree.name(name) }
            tree.list("variableDefinitions", operation.variables) { $0.write($1) }
            tree.directives(operation.directives)
            tree.write(operation.selectionSet)
        }
    }

    private mutating func write(_ fragment: FragmentDefinition) {
        node("FragmentDefinition", fragment.range) { tree in
            tree.description(fragment.description)
            tree.name(fragment.name)
            tree.member("typeCondition")
            tree.namedType(fragment.typeCondition)
            tree.directives(fragment.directives)
            tree.write(fragment.selectionSet)
        }
    }

    private mutating func write(_ definition: VariableDefinition) {
        node("VariableDefinition", definition.range) { tree in
            tree.description(definition.description)
            tree.member("variable")
            tree.variable(definition.name.value, definition.variableRange)
            tree.type(definition.type)
            tree.defaultValue(definition.defaultValue)
            tree.directives(definition.directives)
        }
    }

    /// A selection set that is being written, with the selection that it belongs to.
    private struct OpenSelectionSet {
        let range: SourceRange
        /// The selection that the set belongs to; nil for the set of a definition.
        let owner: SourceRange?
        var rest: NodeList<Selection>.SubSequence
    }

    /// Writes the member `selectionSet` and everything below it.
    private mutating func write(_ selectionSet: SelectionSet) {
        var around = [open(selectionSet, of: nil)]
        var isFirst = true
        while let innermost = around.indices.last {
            guard let selection = around[innermost].rest.popFirst() else {
                let finished = around.removeLast()
                json.append("]")
                close(finished.range)
                if let owner = finished.owner { close(owner) }
                isFirst = false
                continue
            }
            if !isFirst { json.append(",") }
            isFirst = false
            switch selection {
            case .field(let field):
                openField(field)
                guard let inner = field.selectionSet else {
                    close(field.range)
                    continue
                }
                around.append(open(inner, of: field.range))
                isFirst = true
            case .fragmentSpread(let spread):
                node("FragmentSpread", spread.range) { tree in
                    tree.name(spread.name)
                    tree.directives(spread.directives)
                }
            case .inlineFragment(let fragment):
                open("InlineFragment")
                if let condition = fragment.typeCondition {
                    member("typeCondition")
                    namedType(condition)
                }
                directives(fragment.directives)
                around.append(open(fragment.selectionSet, of: fragment.range))
                isFirst = true
            }
        }
    }

    private mutating func open(
        _ selectionSet: SelectionSet, of owner: SourceRange?
    ) -> OpenSelectionSet {
        member("selectionSet")
        open("SelectionSet")
        member("selections")
        json.append("[")
        return OpenSelectionSet(
            range: selectionSet.range, owner: owner, rest: selectionSet.selections[...])
    }

    private mutating func openField(_ field: Field) {
        open("Field")
        if let alias = field.alias {
            member("alias")
            write(alias)
        }
        name(field.name)
        list("arguments", field.arguments) { $0.write($1) }
        directives(field.directives)
    }

    // MARK: - Shared nodes

    mutating func write(_ name: Name) {
        node("Name", name.range) { $0.member("value", name.value) }
    }

    mutating func name(_ name: Name) {
        member("name")
        write(name)
    }

    mutating func namedType(_ type: Name) {
        node("NamedType", type.range) { $0.name(type) }
    }

    /// Writes the member `type`.
    mutating func type(_ type: TypeReference) {
        member("type")
        var wrappers: [SourceRange] = []
        var rest = type
        while true {
            switch rest {
            case .list(let inner, let range):
                open("ListType")
                wrappers.append(range)
                rest = inner
            case .nonNull(let inner, let range):
                open("NonNullType")
                wrappers.append(range)
                rest = inner
            case .named(let name):
                namedType(name)
                for range in wrappers.reversed() { close(range) }
                return
            }
            member("type")
        }
    }

    mutating func description(_ text: StringValue?) {
        guard let text else { return }
        member("description")
        write(text)
    }

    mutating func defaultValue(_ value: ValueNode?) {
        guard let value else { return }
        member("defaultValue")
        write(value)
    }

    mutating func directives(_ directives: NodeList<Directive>) {
        list("directives", directives) { tree, directive in
            tree.node("Directive", directive.range) { tree in
                tree.name(directive.name)
                tree.list("arguments", directive.arguments) { $0.write($1) }
            }
        }
    }

    private mutating func write(_ argument: Argument) {
        node("Argument", argument.range) { tree in
            tree.name(argument.name)
            tree.member("value")
            tree.write(argument.value)
        }
    }

    // MARK: - Values

    /// A list or an object that is being written.
    private enum OpenValue {
        case list(NodeList<ValueNode>.SubSequence, SourceRange)
        case object(NodeList<ObjectField>.SubSequence, SourceRange)
        /// The object field whose value is being written.
        case field(SourceRange)
    }

    private mutating func write(_ value: ValueNode) {
        var around: [OpenValue] = []
        var isFirst = open(value, &around)
        while let innermost = around.popLast() {
            switch innermost {
            case .field(let range):
                close(range)
            case .list(var rest, let range):
                guard let item = rest.popFirst() else {
                    json.append("]")
                    close(range)
                    break
                }
                if !isFirst { json.append(",") }
                around.append(.list(rest, range))
                isFirst = open(item, &around)
                continue
            case .object(var rest, let range):
                guard let field = rest.popFirst() else {
                    json.append("]")
                    close(range)
                    break
                }
                if !isFirst { json.append(",") }
                around += [.object(rest, range), .field(field.range)]
                open("ObjectField")
                name(field.name)
                member("value")
                isFirst = open(field.value, &around)
                continue
            }
            isFirst = false
        }
    }

    /// Writes a leaf, or the beginning of a list or object up to its first item.
    ///
    /// - Returns: whether an item follows.
    private mutating func open(_ value: ValueNode, _ around: inout [OpenValue]) -> Bool {
        switch value.kind {
        case .variable(let text): variable(text, value.range)
        case .int(let text): leaf("IntValue", text, value.range)
        case .float(let text): leaf("FloatValue", text, value.range)
        case .enumeration(let text): leaf("EnumValue", text, value.range)
        case .boolean(let flag):
            node("BooleanValue", value.range) { $0.member("value", flag) }
        case .null: node("NullValue", value.range)
        case .string(let string): write(string)
        case .list(let items):
            open("ListValue")
            member("values")
            json.append("[")
            around.append(.list(items[...], value.range))
            return true
        case .object(let fields):
            open("ObjectValue")
            member("fields")
            json.append("[")
            around.append(.object(fields[...], value.range))
            return true
        }
        return false
    }

    private mutating func leaf(_ kind: StaticString, _ text: String, _ range: SourceRange) {
        node(kind, range) { $0.member("value", text) }
    }

    /// The name ends at the end of the variable. White space may separate it from the `$`.
    private mutating func variable(_ text: String, _ range: SourceRange) {
        let start = range.end - Int32(clamping: text.utf8.count)
        node("Variable", range) {
            $0.name(Name(text, range: SourceRange(start: start, end: range.end)))
        }
    }

    private mutating func write(_ string: StringValue) {
        node("StringValue", string.range) { tree in
            tree.member("value", string.value)
            tree.member("block", string.isBlock)
        }
    }
}

/// Converts UTF-8 offsets to UTF-16 offsets.
private struct UTF16Offsets {
    /// The UTF-16 offset of each byte and of the end. Empty if both offsets are always equal, as in
    /// ASCII.
    private var table: [Int32] = []

    init(_ source: Source) {
        guard source.bytes.contains(where: { $0 >= 0x80 }) else { return }
        table.reserveCapacity(source.bytes.count + 1)
        var offset: Int32 = 0
        for byte in source.bytes {
            table.append(offset)
            if byte & 0b1100_0000 != 0b1000_0000 { offset += byte >= 0b1111_0000 ? 2 : 1 }
        }
        table.append(offset)
    }

    subscript(offset: Int32) -> Int {
        // A scalar of two code units counts both at its first byte. The offsets of its other bytes
        // are never used.
        table.isEmpty ? Int(offset) : Int(table[Int(offset)])
    }
}
