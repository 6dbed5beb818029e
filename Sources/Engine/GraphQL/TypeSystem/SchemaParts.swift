/// The definitions of a type-system document with their extensions merged, still as syntax. The
/// schema validation rules read them.
///
/// If two definitions have the same name, the first one is used. A separate rule reports the second
/// one.
struct SchemaParts {
    /// `schema { … }` and its extensions, in the order of the document.
    var schemas: [SchemaDefinition] = []
    var types: [TypeParts] = []
    var directives: [DirectiveDefinitionNode] = []
    private var indices: [String: Int] = [:]

    init(_ document: Document) {
        var extensions: [TypeDefinitionNode] = []
        var directiveNames: Set<String> = []
        for case .typeSystem(let definition) in document.definitions {
            switch definition {
            case .schema(let schema):
                schemas.append(schema)
            case .directive(let directive):
                if directiveNames.insert(directive.name.value).inserted {
                    directives.append(directive)
                }
            case .type(let type) where type.isExtension:
                extensions.append(type)
            case .type(let type):
                guard indices[type.name.value] == nil else { continue }
                indices[type.name.value] = types.count
                types.append(TypeParts(type))
            }
        }
        for `extension` in extensions {
            guard let index = indices[`extension`.name.value] else { continue }
            types[index].add(`extension`)
        }
    }

    subscript(name: String) -> TypeParts? { indices[name].map { types[$0] } }

    /// The `schema` definition, or nil if there are only extensions of it.
    var schema: SchemaDefinition? { schemas.first { !$0.isExtension } }

    /// Returns the name of the root type of an operation kind. Without a `schema` definition, that
    /// is the type with the default name, if it exists.
    ///
    /// Spec: https://spec.graphql.org/September2025/#sec-Root-Operation-Types.Default-Root-Operation-Type-Names
    func rootTypeName(of kind: OperationKind) -> Name? {
        let named = schemas.lazy.flatMap(\.operationTypes).first { $0.kind == kind }?.type
        if let named { return named }
        guard schema == nil else { return nil }
        return self[kind.defaultTypeName].map { Name($0.name.value) }
    }
}

extension OperationKind {
    /// The default name of the root type.
    var defaultTypeName: String {
        switch self {
        case .query: "Query"
        case .mutation: "Mutation"
        case .subscription: "Subscription"
        }
    }
}

/// The definition of a type with its extensions.
struct TypeParts {
    let name: Name
    /// The definition, followed by the extensions.
    private(set) var nodes: [TypeDefinitionNode]

    init(_ definition: TypeDefinitionNode) {
        name = definition.name
        nodes = [definition]
    }

    mutating func add(_ node: TypeDefinitionNode) { nodes.append(node) }

    var definition: TypeDefinitionNode { nodes[0] }
    var ranges: [SourceRange] { nodes.map(\.range) }
    var directives: [Directive] { nodes.flatMap(\.directives) }

    var fields: [FieldDefinitionNode] { nodes.flatMap(\.fields) }
    var interfaces: [Name] { nodes.flatMap(\.interfaces) }

    var members: [Name] {
        nodes.flatMap { node -> [Name] in
            if case .union(let members) = node.body { members } else { [] }
        }
    }

    var values: [EnumValueDefinitionNode] {
        nodes.flatMap { node -> [EnumValueDefinitionNode] in
            if case .enumeration(let values) = node.body { Array(values) } else { [] }
        }
    }

    var inputFields: [InputValueDefinitionNode] {
        nodes.flatMap { node -> [InputValueDefinitionNode] in
            if case .inputObject(let fields) = node.body { Array(fields) } else { [] }
        }
    }

    var isOneOf: Bool { directives.contains { $0.name.value == "oneOf" } }

    func field(named name: String) -> FieldDefinitionNode? {
        fields.first { $0.name.value == name }
    }
}

extension TypeDefinitionNode {
    var fields: [FieldDefinitionNode] {
        switch body {
        case .object(_, let fields), .interface(_, let fields): Array(fields)
        case .scalar, .union, .enumeration, .inputObject: []
        }
    }

    var interfaces: [Name] {
        switch body {
        case .object(let interfaces, _), .interface(let interfaces, _): interfaces
        case .scalar, .union, .enumeration, .inputObject: []
        }
    }

    /// The kind of type, for error messages.
    var kindName: String {
        switch body {
        case .scalar: "scalar"
        case .object: "object"
        case .interface: "interface"
        case .union: "union"
        case .enumeration: "enum"
        case .inputObject: "input object"
        }
    }

    var directiveLocation: DirectiveLocation {
        switch body {
        case .scalar: .scalar
        case .object: .object
        case .interface: .interface
        case .union: .union
        case .enumeration: .enumeration
        case .inputObject: .inputObject
        }
    }
}

extension FieldDefinitionNode {
    func argument(named name: String) -> InputValueDefinitionNode? {
        arguments.first { $0.name.value == name }
    }
}

extension InputValueDefinitionNode {
    var isRequired: Bool { type.isNonNull && defaultValue == nil }
}

extension Collection<Directive> {
    var deprecation: Directive? { first { $0.name.value == "deprecated" } }
}
