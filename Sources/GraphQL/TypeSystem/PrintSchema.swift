/// The SDL of a schema: its own directives and types in the order of the document it was built from, what every schema
/// has left out.
///
/// The layout is that of graphql-js. Descriptions are block strings; a member with a description has an empty line
/// before it. Directives are printed as they were applied. The text ends in a line break.
public func printSchema(_ schema: Schema) -> String {
    let directives = schema.directives.filter { definition in
        !SpecifiedDirectives.all.contains { $0 === definition }
    }
    let types = schema.types.filter {
        !SpecifiedScalars.names.contains($0.name) && !IntrospectionTypes.names.contains($0.name)
    }
    let definitions =
        [printSchemaDefinition(schema)].compactMap { $0 } + directives.map(printDirective)
        + types.map(printType)
    return definitions.joined(separator: "\n\n") + "\n"
}

/// Nil where the default names say all of it.
private func printSchemaDefinition(_ schema: Schema) -> String? {
    let roots = OperationKind.allCases.compactMap { kind in
        schema.rootType(of: kind).map { (kind: kind, name: $0.name) }
    }
    let hasDefaultNames = OperationKind.allCases.allSatisfy { kind in
        // A type of that name that is no root has to be told from one that is.
        let root = schema.rootType(of: kind)
        return root === schema.type(named: kind.defaultTypeName)
    }
    if schema.description == nil, schema.appliedDirectives.isEmpty, hasDefaultNames { return nil }
    return printDescription(schema.description)
        + words(["schema", schema.appliedDirectives.printed])
        + printBlock(roots.map { "\($0.kind.rawValue): \($0.name)" })
}

private func printDirective(_ directive: DirectiveDefinition) -> String {
    printDescription(directive.description)
        + words([
            "directive @\(directive.name)" + printArguments(directive.arguments),
            directive.isRepeatable ? "repeatable" : "", "on",
            directive.locations.map(\.rawValue).joined(separator: " | "),
        ])
}

private func printType(_ type: TypeDefinition) -> String {
    let (keyword, interfaces, members): (String, [String], String) =
        switch type.kind {
        case .scalar: ("scalar", [], "")
        case .object(let body): ("type", body.interfaces, printFields(body.fields))
        case .interface(let body): ("interface", body.interfaces, printFields(body.fields))
        case .union(let names): ("union", [], " = " + names.joined(separator: " | "))
        case .enumeration(let values): ("enum", [], printValues(values))
        case .inputObject(let body): ("input", [], printInputFields(body.fields))
        }
    return printDescription(type.description)
        + words([
            keyword, type.name,
            interfaces.isEmpty ? "" : "implements " + interfaces.joined(separator: " & "),
            type.appliedDirectives.printed,
        ]) + members
}

private func printFields(_ fields: [FieldDefinition]) -> String {
    printBlock(
        fields.map { field in
            printDescription(field.description)
                + words([
                    field.name + printArguments(field.arguments) + ": " + print(field.type),
                    field.appliedDirectives.printed,
                ])
        })
}

private func printValues(_ values: [EnumValueDefinition]) -> String {
    printBlock(
        values.map {
            printDescription($0.description) + words([$0.name, $0.appliedDirectives.printed])
        })
}

private func printInputFields(_ fields: [InputValueDefinition]) -> String {
    printBlock(fields.map { printDescription($0.description) + printInputValue($0) })
}

private func printInputValue(_ value: InputValueDefinition) -> String {
    words([
        value.name + ": " + print(value.type), value.defaultValue.map { "= " + print($0) } ?? "",
        value.appliedDirectives.printed,
    ])
}

/// In one line, or each in its own where one of them has a description.
private func printArguments(_ arguments: [InputValueDefinition]) -> String {
    if arguments.isEmpty { return "" }
    guard arguments.contains(where: { $0.description != nil }) else {
        return "(" + arguments.map(printInputValue).joined(separator: ", ") + ")"
    }
    let items = arguments.map { printDescription($0.description) + printInputValue($0) }
    return "(\n" + printMembers(items) + "\n)"
}

private func printBlock(_ members: [String]) -> String {
    members.isEmpty ? "" : " {\n" + printMembers(members) + "\n}"
}

/// Members on lines of their own, an empty line before those that begin with a description.
private func printMembers(_ members: [String]) -> String {
    members.enumerated().map { index, member in
        (index > 0 && member.hasPrefix("\"") ? "\n" : "") + indentedLines(member)
    }.joined(separator: "\n")
}

/// Two spaces before every line that is not empty.
private func indentedLines(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
        .map { $0.isEmpty ? "" : "  " + $0 }.joined(separator: "\n")
}

/// A description on lines of its own: a block string, or a quoted one where that would not read back the same.
private func printDescription(_ description: String?) -> String {
    guard let description else { return "" }
    let block = StringValue(description, isBlock: true)
    return print(canBeBlockString(description) ? block : StringValue(description)) + "\n"
}

/// No control characters and no white space that a block string would lose.
private func canBeBlockString(_ text: String) -> Bool {
    let isPrintable = text.unicodeScalars.allSatisfy {
        $0.value >= 0x20 || $0 == "\n" || $0 == "\t"
    }
    guard isPrintable else { return false }
    let literal = Source(print(StringValue(text, isBlock: true)))
    guard case .string(let read)? = (try? parseValue(literal, limits: .trusted))?.kind else {
        return false
    }
    return read.value == text
}
