/// Returns the SDL of a schema without the built-in types and directives. Definitions are in the
/// order of the document from which the schema was built.
///
/// The layout is that of graphql-js. Descriptions are block strings, and an empty line precedes
/// each member with a description. Applied directives are printed. The text ends with a line break.
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

/// Returns nil if the root types have their default names and there is nothing else to print.
private func printSchemaDefinition(_ schema: Schema) -> String? {
    let roots = OperationKind.allCases.compactMap { kind in
        schema.rootType(of: kind).map { (kind: kind, name: $0.name) }
    }
    let hasDefaultNames = OperationKind.allCases.allSatisfy { kind in
        // A type with a default name that is not a root type requires an explicit `schema`
        // definition.
        let root = schema.rootType(of: kind)
        return root === schema.type(named: kind.defaultTypeName)
    }
    if schema.description == nil, schema.appliedDirectives.isEmpty, hasDefaultNames { return nil }
    return printDescription(schema.description)
        + joinNonEmpty(["schema", schema.appliedDirectives.printed])
        + printBlock(roots.map { "\($0.kind.rawValue): \($0.name)" })
}

private func printDirective(_ directive: DirectiveDefinition) -> String {
    printDescription(directive.description)
        + joinNonEmpty([
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
        + joinNonEmpty([
            keyword, type.name,
            interfaces.isEmpty ? "" : "implements " + interfaces.joined(separator: " & "),
            type.appliedDirectives.printed,
        ]) + members
}

private func printFields(_ fields: [FieldDefinition]) -> String {
    printBlock(
        fields.map { field in
            printDescription(field.description)
                + joinNonEmpty([
                    field.name + printArguments(field.arguments) + ": " + print(field.type),
                    field.appliedDirectives.printed,
                ])
        })
}

private func printValues(_ values: [EnumValueDefinition]) -> String {
    printBlock(
        values.map {
            printDescription($0.description)
                + joinNonEmpty([$0.name, $0.appliedDirectives.printed])
        })
}

private func printInputFields(_ fields: [InputValueDefinition]) -> String {
    printBlock(fields.map { printDescription($0.description) + printInputValue($0) })
}

private func printInputValue(_ value: InputValueDefinition) -> String {
    joinNonEmpty([
        value.name + ": " + print(value.type), value.defaultValue.map { "= " + print($0) } ?? "",
        value.appliedDirectives.printed,
    ])
}

/// Prints the arguments on one line, or each on its own line if one of them has a description.
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

/// Prints each member on its own line, with an empty line before members that begin with a
/// description.
private func printMembers(_ members: [String]) -> String {
    members.enumerated().map { index, member in
        (index > 0 && member.hasPrefix("\"") ? "\n" : "") + indentedLines(member)
    }.joined(separator: "\n")
}

/// Indents every non-empty line by two spaces.
private func indentedLines(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
        .map { $0.isEmpty ? "" : "  " + $0 }.joined(separator: "\n")
}

/// Prints a description on its own lines: as a block string, or as a quoted string if a block
/// string would not preserve its value.
private func printDescription(_ description: String?) -> String {
    guard let description else { return "" }
    let block = StringValue(description, isBlock: true)
    return print(canBeBlockString(description) ? block : StringValue(description)) + "\n"
}

/// Whether a block string preserves the value: there are no control characters, and no white space
/// that would be removed.
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
