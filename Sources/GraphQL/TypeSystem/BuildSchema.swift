/// Builds the schema that a text in the schema definition language describes.
///
/// - Throws: the syntax error, or every error that the document has.
public func buildSchema(
    _ source: Source, scalars: [String: ScalarInput] = [:]
) throws(RequestErrors) -> Schema {
    let document: Document
    do throws(GraphQLError) {
        document = try parse(source, limits: .trusted)
    } catch {
        throw RequestErrors([error])
    }
    return try buildSchema(document, scalars: scalars)
}

/// Builds the schema a type-system document describes: definitions and extensions merged, with the built-in scalars
/// and directives and the introspection types.
///
/// - Parameter scalars: input coercion of the schema's own scalars, by their names.
/// - Throws: every error the document has. Those of the document itself (names that stand twice, unknown types,
///   misused directives) come alone; the rules for types are checked once it has none of them.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Schema
public func buildSchema(
    _ document: Document, scalars: [String: ScalarInput] = [:]
) throws(RequestErrors) -> Schema {
    let parts = SchemaParts(document)
    let schema = Schema(parts, scalars: scalars)
    // All errors of a schema are told: who wrote it is no stranger.
    let options = ValidationOptions(errorsMax: 1_000)
    for check in [checkDefinitions, checkTypes] {
        var context = ValidationContext(schema: schema, document: document, options: options)
        check(parts, &context)
        let errors = context.errors()
        guard errors.isEmpty else { throw RequestErrors(errors) }
    }
    return schema
}

/// The rules for the document: names, references and directives.
private func checkDefinitions(_ parts: SchemaParts, _ context: inout ValidationContext) {
    checkIsTypeSystem(context.document, &context)
    checkUniqueNames(context.document, &context)
    checkKnownTypes(parts, &context)
    checkAppliedDirectives(context.document, &context)
    checkScalarInputs(parts, &context)
}

/// What coerces a scalar's input has a scalar to coerce: a name that is misspelt would leave that without its checks.
private func checkScalarInputs(_ parts: SchemaParts, _ context: inout ValidationContext) {
    for name in context.schema.scalars.keys.sorted() {
        if case .scalar? = parts[name]?.definition.body, BuiltInScalar(named: name) == nil {
            continue
        }
        context.report(
            "The schema defines no scalar \"\(name)\" whose input could be coerced.", at: [])
    }
}

/// The rules for what the definitions say.
private func checkTypes(_ parts: SchemaParts, _ context: inout ValidationContext) {
    checkRootTypes(parts, &context)
    checkDirectiveDefinitions(parts, &context)
    for type in parts.types {
        checkIsUnreserved(type.name, at: type.definition.range, &context)
        checkIsNotBuiltIn(type, &context)
        switch type.definition.body {
        case .scalar:
            break
        case .object, .interface:
            checkFields(of: type, &context)
            checkInterfaces(of: type, parts, &context)
        case .union:
            checkMembers(of: type, &context)
        case .enumeration:
            checkValues(of: type, &context)
        case .inputObject:
            checkInputFields(of: type, &context)
        }
    }
    checkInputObjectCycles(parts, &context)
    checkDefaultValues(parts, &context)
}

extension Schema {
    /// The schema of parts that may still be wrong: what is unknown is left as it is written.
    fileprivate convenience init(_ parts: SchemaParts, scalars: [String: ScalarInput]) {
        let directives = parts.directives.map(DirectiveDefinition.init)
        let ownDirectives = Set(directives.map(\.name))
        let allDirectives =
            directives + SpecifiedDirectives.all.filter { !ownDirectives.contains($0.name) }
        let types = parts.types.compactMap { TypeDefinition($0) }
        let known = types + Schema.referencedScalars(types, allDirectives) + IntrospectionTypes.all
        let byName = Dictionary(
            known.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        func root(_ kind: OperationKind) -> TypeDefinition? {
            parts.rootTypeName(of: kind).flatMap { byName[$0.value] }
        }
        self.init(
            description: parts.schema?.description?.value, types: known,
            directives: allDirectives,
            // Only a schema with errors has none: it is never given out.
            queryType: root(.query)
                ?? TypeDefinition(
                    name: "", description: nil,
                    kind: .object(FieldsType(interfaces: [], fields: []))),
            mutationType: root(.mutation), subscriptionType: root(.subscription),
            appliedDirectives: parts.schemas.flatMap(\.directives), scalars: scalars)
    }

    /// Built-in scalars are part of the schema where something refers to them; introspection refers to two.
    ///
    /// Spec: https://spec.graphql.org/September2025/#sec-Scalars.Built-in-Scalars
    private static func referencedScalars(
        _ types: [TypeDefinition], _ directives: [DirectiveDefinition]
    ) -> [TypeDefinition] {
        var names: Set<String> = ["String", "Boolean"]
        for type in types {
            switch type.kind {
            case .object(let type), .interface(let type):
                for field in type.fields {
                    names.insert(field.type.namedType)
                    names.formUnion(field.arguments.map(\.type.namedType))
                }
            case .inputObject(let type):
                names.formUnion(type.fields.map(\.type.namedType))
            case .scalar, .union, .enumeration:
                break
            }
        }
        for directive in directives { names.formUnion(directive.arguments.map(\.type.namedType)) }
        return SpecifiedScalars.all.filter { names.contains($0.name) }
    }
}

extension TypeDefinition {
    /// Nil for built-in types, which every schema has already.
    fileprivate convenience init?(_ parts: TypeParts) {
        let name = parts.name.value
        guard !SpecifiedScalars.names.contains(name), !IntrospectionTypes.names.contains(name)
        else {
            return nil
        }
        let kind: Kind =
            switch parts.definition.body {
            case .scalar:
                .scalar(
                    specifiedByURL: parts.directives.argument("url", of: "specifiedBy"))
            case .object:
                .object(FieldsType(parts))
            case .interface:
                .interface(FieldsType(parts))
            case .union:
                .union(parts.members.map(\.value))
            case .enumeration:
                .enumeration(parts.values.map(EnumValueDefinition.init))
            case .inputObject:
                .inputObject(
                    InputObjectType(
                        fields: parts.inputFields.map(InputValueDefinition.init),
                        isOneOf: parts.isOneOf))
            }
        self.init(
            name: name, description: parts.definition.description?.value, kind: kind,
            appliedDirectives: parts.directives)
    }
}

extension FieldsType {
    fileprivate convenience init(_ parts: TypeParts) {
        self.init(
            interfaces: parts.interfaces.map(\.value),
            fields: parts.fields.map(FieldDefinition.init))
    }
}

extension FieldDefinition {
    fileprivate convenience init(_ node: FieldDefinitionNode) {
        self.init(
            name: node.name.value, description: node.description?.value,
            arguments: node.arguments.map(InputValueDefinition.init), type: node.type,
            deprecationReason: node.directives.deprecationReason,
            appliedDirectives: Array(node.directives))
    }
}

extension InputValueDefinition {
    fileprivate convenience init(_ node: InputValueDefinitionNode) {
        self.init(
            name: node.name.value, description: node.description?.value, type: node.type,
            defaultValue: node.defaultValue, deprecationReason: node.directives.deprecationReason,
            appliedDirectives: Array(node.directives))
    }
}

extension EnumValueDefinition {
    fileprivate convenience init(_ node: EnumValueDefinitionNode) {
        self.init(
            name: node.name.value, description: node.description?.value,
            deprecationReason: node.directives.deprecationReason,
            appliedDirectives: Array(node.directives))
    }
}

extension DirectiveDefinition {
    fileprivate convenience init(_ node: DirectiveDefinitionNode) {
        self.init(
            name: node.name.value, description: node.description?.value,
            arguments: node.arguments.map(InputValueDefinition.init),
            isRepeatable: node.isRepeatable,
            // The parser takes no other names.
            locations: node.locations.compactMap { DirectiveLocation(rawValue: $0.value) })
    }
}

extension Collection<Directive> {
    fileprivate var deprecationReason: String? {
        guard deprecation != nil else { return nil }
        return argument("reason", of: "deprecated") ?? SpecifiedDirectives.defaultDeprecationReason
    }

    /// The string argument of a directive.
    fileprivate func argument(_ name: String, of directive: String) -> String? {
        let arguments = first { $0.name.value == directive }?.arguments
        let value = arguments?.first { $0.name.value == name }?.value
        return if case .string(let string)? = value?.kind { string.value } else { nil }
    }
}
