extension TypeSystemDefinition {
    var printed: String {
        switch self {
        case .schema(let schema): schema.printed
        case .type(let type): type.printed
        case .directive(let directive): directive.printed
        }
    }
}

extension SchemaDefinition {
    fileprivate var printed: String {
        printedLine(description)
            + joinNonEmpty([
                isExtension ? "extend schema" : "schema", directives.printed,
                block(operationTypes.map { "\($0.kind.rawValue): \($0.type.value)" }),
            ])
    }
}

extension TypeDefinitionNode {
    fileprivate var printed: String {
        let keyword: String
        var interfaces: [Name] = []
        let members: String
        switch body {
        case .scalar: (keyword, members) = ("scalar", "")
        case .object(let names, let fields):
            (keyword, interfaces, members) = ("type", names, block(fields.map(\.printed)))
        case .interface(let names, let fields):
            (keyword, interfaces, members) = ("interface", names, block(fields.map(\.printed)))
        case .union(let names):
            keyword = "union"
            members = names.isEmpty ? "" : "= " + joined(names, " | ")
        case .enumeration(let values): (keyword, members) = ("enum", block(values.map(\.printed)))
        case .inputObject(let fields): (keyword, members) = ("input", block(fields.map(\.printed)))
        }
        return printedLine(description)
            + joinNonEmpty([
                isExtension ? "extend" : "", keyword, name.value,
                interfaces.isEmpty ? "" : "implements " + joined(interfaces, " & "),
                directives.printed, members,
            ])
    }
}

extension FieldDefinitionNode {
    fileprivate var printed: String {
        printedLine(description)
            + joinNonEmpty([
                "\(name.value)\(argumentsDefinition(arguments)): \(print(type))",
                directives.printed,
            ])
    }
}

extension InputValueDefinitionNode {
    fileprivate var printed: String {
        printedLine(description)
            + joinNonEmpty([
                "\(name.value): \(print(type))", defaultValue.map { "= " + print($0) } ?? "",
                directives.printed,
            ])
    }
}

extension EnumValueDefinitionNode {
    fileprivate var printed: String {
        printedLine(description) + joinNonEmpty([name.value, directives.printed])
    }
}

extension DirectiveDefinitionNode {
    fileprivate var printed: String {
        printedLine(description)
            + joinNonEmpty([
                "directive @\(name.value)\(argumentsDefinition(arguments))",
                isRepeatable ? "repeatable" : "", "on", joined(locations, " | "),
            ])
    }
}

/// Prints the arguments on one line, or each on its own line if one of them has a description.
private func argumentsDefinition(_ arguments: NodeList<InputValueDefinitionNode>) -> String {
    let items = arguments.map(\.printed)
    return items.contains { $0.utf8.contains(UInt8(ascii: "\n")) }
        ? "(\n" + indented(items.joined(separator: "\n")) + "\n)" : parenthesized(items)
}

private func joined(_ names: [Name], _ separator: String) -> String {
    names.map(\.value).joined(separator: separator)
}
