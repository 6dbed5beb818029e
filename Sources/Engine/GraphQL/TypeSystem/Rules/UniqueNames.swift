/// Checks that a type-system document does not contain operations and fragments.
func checkIsTypeSystem(_ document: Document, _ context: inout ValidationContext) {
    for definition in document.definitions {
        switch definition {
        case .typeSystem:
            break
        case .operation(let operation):
            context.report(
                "The \(operation.name.map { "\"\($0.value)\"" } ?? "anonymous") operation is not a "
                    + "type-system definition.", at: operation.range)
        case .fragment(let fragment):
            context.report(
                "The \"\(fragment.name.value)\" fragment is not a type-system definition.",
                at: fragment.range)
        }
    }
}

/// Checks that there is at most one `schema` definition, and that the names of operation types,
/// types, directives, fields, arguments, and enum values are unique.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Schema and #sec-Objects.Type-Validation
func checkUniqueNames(_ document: Document, _ context: inout ValidationContext) {
    var names = KnownNames()
    var schemasCount = 0
    for case .typeSystem(let definition) in document.definitions {
        switch definition {
        case .schema(let schema):
            if !schema.isExtension {
                schemasCount += 1
                if schemasCount > 1 {
                    context.report("Must provide only one schema definition.", at: schema.range)
                }
            }
            for operation in schema.operationTypes {
                names.add("schema \(operation.kind)", at: operation.range, &context) {
                    "There can be only one \(operation.kind.rawValue) type in schema."
                }
            }
        case .directive(let directive):
            let name = directive.name
            names.add("@\(name.value)", at: name.range, &context) {
                "There can be only one directive named \"@\(name.value)\"."
            }
            checkUnique(directive.arguments, of: "@\(name.value)", &context)
        case .type(let type):
            if !type.isExtension {
                names.add(type.name.value, at: type.name.range, &context) {
                    "There can be only one type named \"\(type.name.value)\"."
                }
            }
            checkMembers(of: type, &names, &context)
        }
    }
}

private func checkMembers(
    of type: TypeDefinitionNode, _ names: inout KnownNames, _ context: inout ValidationContext
) {
    switch type.body {
    case .object(_, let fields), .interface(_, let fields):
        for field in fields {
            names.addField(field.name, of: type, &context)
            checkUnique(field.arguments, of: "\(type.name.value).\(field.name.value)", &context)
        }
    case .inputObject(let fields):
        for field in fields { names.addField(field.name, of: type, &context) }
    case .enumeration(let values):
        for value in values {
            let path = "\(type.name.value).\(value.name.value)"
            names.add("enum " + path, at: value.name.range, &context) {
                "Enum value \"\(path)\" can only be defined once."
            }
        }
    case .scalar, .union:
        break
    }
}

private func checkUnique(
    _ arguments: NodeList<InputValueDefinitionNode>, of parent: String,
    _ context: inout ValidationContext
) {
    for group in context.groupsWithSameName(arguments) {
        context.report(
            "Argument \"\(parent)(\(group[0].nameText):)\" can only be defined once.",
            at: group.map(\.name.range))
    }
}

/// The names seen so far, with their ranges. A duplicate is reported together with the first
/// occurrence.
private struct KnownNames {
    private var ranges: [String: SourceRange] = [:]

    mutating func add(
        _ key: String, at range: SourceRange, _ context: inout ValidationContext,
        message: () -> String
    ) {
        if let first = ranges[key] {
            context.report(message(), at: first, range)
        } else {
            ranges[key] = range
        }
    }

    mutating func addField(
        _ name: Name, of type: TypeDefinitionNode, _ context: inout ValidationContext
    ) {
        let path = "\(type.name.value).\(name.value)"
        add("field " + path, at: name.range, &context) {
            "Field \"\(path)\" can only be defined once."
        }
    }
}
