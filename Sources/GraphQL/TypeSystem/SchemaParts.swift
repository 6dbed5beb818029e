/// The definitions of a type-system document with their extensions merged, as syntax: what the rules for schemas read.
///
/// Of two definitions with one name the first counts; a rule tells of the other.
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

    /// The definition, where there is one that is no extension.
    var schema: SchemaDefinition? { schemas.first { !$0.isExtension } }

    /// The type named for an operation kind, or else the type of the default name where no `schema` is written.
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
    /// `Query`, `Mutation` or `Subscription`.
    var defaultTypeName: String {
        switch self {
        case .query: "Query"
        case .mutation: "Mutation"
        case .subscription: "Subscription"
        }
    }
}

/// A type's definition with its extensions.
struct TypeParts {
    let name: Name
    /// The definition first, then the extensions.
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

    /// What kind of type it defines, in words.
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
