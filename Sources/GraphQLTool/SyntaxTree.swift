import GraphQL

/// A document as JSON in the shape of graphql-js: its kind names, empty lists where nothing is, absent members where a
/// node may be missing, and `loc` in UTF-16 code units.
struct SyntaxTree {
    private let document: Document
    private let offsets: UTF16Offsets

    init(_ document: Document) {
        self.document = document
        offsets = UTF16Offsets(document.source)
    }

    var value: Value {
        let whole = SourceRange(start: 0, end: Int32(clamping: document.source.bytes.count))
        return node(
            "Document", whole, [.init("definitions", .list(document.definitions.map(tree)))])
    }

    func node(_ kind: String, _ range: SourceRange, _ members: [Value.Member?]) -> Value {
        let location = Value.object([
            .init("start", .int(offsets[range.start])), .init("end", .int(offsets[range.end])),
        ])
        return .object(
            [.init("kind", .string(kind))] + members.compactMap { $0 } + [.init("loc", location)])
    }

    // MARK: - Executable definitions

    private func tree(_ definition: Definition) -> Value {
        switch definition {
        case .operation(let operation): tree(operation)
        case .fragment(let fragment): tree(fragment)
        case .typeSystem(let definition): tree(definition)
        }
    }

    private func tree(_ operation: OperationDefinition) -> Value {
        node(
            "OperationDefinition", operation.range,
            [
                description(operation.description),
                .init("operation", .string(operation.kind.rawValue)),
                operation.name.map { .init("name", tree($0)) },
                .init("variableDefinitions", .list(operation.variables.map(tree))),
                directives(operation.directives),
                .init("selectionSet", tree(operation.selectionSet)),
            ])
    }

    private func tree(_ fragment: FragmentDefinition) -> Value {
        node(
            "FragmentDefinition", fragment.range,
            [
                description(fragment.description), name(fragment.name),
                .init("typeCondition", namedType(fragment.typeCondition)),
                directives(fragment.directives),
                .init("selectionSet", tree(fragment.selectionSet)),
            ])
    }

    private func tree(_ variable: VariableDefinition) -> Value {
        return node(
            "VariableDefinition", variable.range,
            [
                description(variable.description),
                .init("variable", tree(variable: variable.name.value, variable.variableRange)),
                type(variable.type), variable.defaultValue.map { .init("defaultValue", tree($0)) },
                directives(variable.directives),
            ])
    }

    /// The name ends where the variable ends; between it and the `$` there may be blanks.
    private func tree(variable text: String, _ range: SourceRange) -> Value {
        let start = range.end - Int32(clamping: text.utf8.count)
        let variable = Name(text, range: SourceRange(start: start, end: range.end))
        return node("Variable", range, [name(variable)])
    }

    private func tree(_ selectionSet: SelectionSet) -> Value {
        node(
            "SelectionSet", selectionSet.range,
            [.init("selections", .list(selectionSet.selections.map(tree)))])
    }

    private func tree(_ selection: Selection) -> Value {
        switch selection {
        case .field(let field):
            node(
                "Field", field.range,
                [
                    field.alias.map { .init("alias", tree($0)) }, name(field.name),
                    .init("arguments", .list(field.arguments.map(tree))),
                    directives(field.directives),
                    field.selectionSet.map { .init("selectionSet", tree($0)) },
                ])
        case .fragmentSpread(let spread):
            node(
                "FragmentSpread", spread.range, [name(spread.name), directives(spread.directives)])
        case .inlineFragment(let fragment):
            node(
                "InlineFragment", fragment.range,
                [
                    fragment.typeCondition.map { .init("typeCondition", namedType($0)) },
                    directives(fragment.directives),
                    .init("selectionSet", tree(fragment.selectionSet)),
                ])
        }
    }

    // MARK: - Shared nodes

    func tree(_ name: Name) -> Value {
        node("Name", name.range, [.init("value", .string(name.value))])
    }

    func name(_ name: Name) -> Value.Member { .init("name", tree(name)) }

    func namedType(_ type: Name) -> Value { node("NamedType", type.range, [name(type)]) }

    func type(_ type: TypeReference) -> Value.Member { .init("type", tree(type)) }

    func description(_ text: StringValue?) -> Value.Member? {
        text.map { .init("description", tree($0)) }
    }

    func directives(_ directives: NodeList<Directive>) -> Value.Member {
        .init(
            "directives",
            .list(
                directives.map {
                    node(
                        "Directive", $0.range,
                        [name($0.name), .init("arguments", .list($0.arguments.map(tree)))])
                }))
    }

    private func tree(_ argument: Argument) -> Value {
        node(
            "Argument", argument.range, [name(argument.name), .init("value", tree(argument.value))])
    }

    private func tree(_ type: TypeReference) -> Value {
        switch type {
        case .named(let name): namedType(name)
        case .list(let inner, let range): node("ListType", range, [self.type(inner)])
        case .nonNull(let inner, let range): node("NonNullType", range, [self.type(inner)])
        }
    }

    private func tree(_ string: StringValue) -> Value {
        node(
            "StringValue", string.range,
            [.init("value", .string(string.value)), .init("block", .boolean(string.isBlock))])
    }

    func tree(_ value: ValueNode) -> Value {
        switch value.kind {
        case .variable(let text):
            return tree(variable: text, value.range)
        case .int(let text): return leaf("IntValue", .string(text), value.range)
        case .float(let text): return leaf("FloatValue", .string(text), value.range)
        case .enumeration(let text): return leaf("EnumValue", .string(text), value.range)
        case .boolean(let flag): return leaf("BooleanValue", .boolean(flag), value.range)
        case .null: return node("NullValue", value.range, [])
        case .string(let string): return tree(string)
        case .list(let items):
            return node("ListValue", value.range, [.init("values", .list(items.map(tree)))])
        case .object(let fields):
            let trees = fields.map {
                node("ObjectField", $0.range, [name($0.name), .init("value", tree($0.value))])
            }
            return node("ObjectValue", value.range, [.init("fields", .list(trees))])
        }
    }

    private func leaf(_ kind: String, _ value: Value, _ range: SourceRange) -> Value {
        node(kind, range, [.init("value", value)])
    }
}

/// Turns UTF-8 offsets into UTF-16 ones.
private struct UTF16Offsets {
    /// The UTF-16 offset of every byte and of the end; empty where both are the same, as in ASCII.
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
        // A scalar of two units counts from its first byte on: only the offsets of its other bytes would show it.
        table.isEmpty ? Int(offset) : Int(table[Int(offset)])
    }
}
