/// Builds a schema from a text in the schema definition language (SDL).
///
/// - Parameters:
///   - source: the text.
///   - scalars: input coercion of the schema's custom scalars, by name.
///   - hasIncrementalDelivery: whether the schema gets the directives `@defer` and `@stream`.
/// - Throws: the syntax error, or all errors of the document.
public func buildSchema(
    _ source: Source, scalars: [String: ScalarInput] = [:], hasIncrementalDelivery: Bool = false
) throws(RequestErrors) -> Schema {
    let document: Document
    do throws(GraphQLError) {
        document = try parse(source, limits: .trusted)
    } catch {
        throw RequestErrors([error])
    }
    return try buildSchema(
        document, scalars: scalars, hasIncrementalDelivery: hasIncrementalDelivery)
}

/// Builds a schema from a type-system document. Extensions are merged into their definitions, and
/// the built-in scalars, the built-in directives, and the introspection types are added.
///
/// - Parameters:
///   - scalars: input coercion of the schema's custom scalars, by name.
///   - hasIncrementalDelivery: whether the schema gets the directives `@defer` and `@stream`.
/// - Throws: all errors of the document. Errors of names, references, and directives are reported
///   alone. The types are checked only when there are none of these.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Schema
package func buildSchema(
    _ document: Document, scalars: [String: ScalarInput] = [:],
    hasIncrementalDelivery: Bool = false
) throws(RequestErrors) -> Schema {
    let parts = SchemaParts(document)
    let schema = Schema(
        parts, scalars: scalars, hasIncrementalDelivery: hasIncrementalDelivery)
    // Report all errors: the author of a schema is trusted, so the limit only has to be high
    // enough.
    let options = ValidationOptions(errorsMax: 1_000)
    for check in [checkDefinitions, checkTypes] {
        var context = ValidationContext(schema: schema, document: document, options: options)
        check(parts, &context)
        let errors = context.errors()
        guard errors.isEmpty else { throw RequestErrors(errors) }
    }
    return schema
}

/// Checks names, references, and directives.
private func checkDefinitions(_ parts: SchemaParts, _ context: inout ValidationContext) {
    checkIsTypeSystem(context.document, &context)
    checkUniqueNames(context.document, &context)
    checkKnownTypes(parts, &context)
    checkAppliedDirectives(context.document, &context)
    checkScalarInputs(parts, &context)
}

/// Checks that each entry of `scalars` belongs to a custom scalar. A misspelled name would silently
/// disable the coercion of that scalar.
private func checkScalarInputs(_ parts: SchemaParts, _ context: inout ValidationContext) {
    for name in context.schema.scalars.keys.sorted() {
        if case .scalar? = parts[name]?.definition.body, BuiltInScalar(named: name) == nil {
            continue
        }
        context.report(
            "Input coercion was given for \"\(name)\", which is not a custom scalar of the schema.",
            at: [])
    }
}

/// Checks the contents of the definitions.
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
    /// Creates a schema from parts that have not been checked. References to unknown types are kept
    /// as written.
    fileprivate convenience init(
        _ parts: SchemaParts, scalars: [String: ScalarInput], hasIncrementalDelivery: Bool
    ) {
        let directives = parts.directives.map(DirectiveDefinition.init)
        let ownDirectives = Set(directives.map(\.name))
        let builtIn =
            SpecifiedDirectives.all + (hasIncrementalDelivery ? IncrementalDirectives.all : [])
        let allDirectives = directives + builtIn.filter { !ownDirectives.contains($0.name) }
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
            // A schema without a query type is invalid and never returned to the caller.
            queryType: root(.query)
                ?? TypeDefinition(
                    name: "", description: nil,
                    kind: .object(FieldsType(interfaces: [], fields: []))),
            mutationType: root(.mutation), subscriptionType: root(.subscription),
            appliedDirectives: parts.schemas.flatMap(\.directives), scalars: scalars,
            hasIncrementalDelivery: hasIncrementalDelivery)
    }

    /// Returns the built-in scalars that the schema refers to. The introspection types refer to
    /// `String` and `Boolean`.
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
    /// Returns nil for built-in types, which every schema contains anyway.
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
            // The parser accepts only known locations.
            locations: node.locations.compactMap { DirectiveLocation(rawValue: $0.value) })
    }
}

extension Collection<Directive> {
    fileprivate var deprecationReason: String? {
        guard deprecation != nil else { return nil }
        return argument("reason", of: "deprecated") ?? SpecifiedDirectives.defaultDeprecationReason
    }

    /// Returns the string argument `name` of the first directive named `directive`.
    fileprivate func argument(_ name: String, of directive: String) -> String? {
        let arguments = first { $0.name.value == directive }?.arguments
        let value = arguments?.first { $0.name.value == name }?.value
        return if case .string(let string)? = value?.kind { string.value } else { nil }
    }
}
