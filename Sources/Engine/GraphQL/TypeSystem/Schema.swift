/// A valid schema.
///
/// It is built from SDL by `buildSchema` and does not change afterwards. Types refer to one another
/// by name.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Schema
public final class Schema: Sendable {
    /// The description in Markdown (CommonMark); nil if there is none.
    public let description: String?
    /// All types, in the order of the document, followed by built-in scalars and introspection
    /// types.
    public let types: [TypeDefinition]
    /// The directives, those of the specification last.
    public let directives: [DirectiveDefinition]
    /// The query root type.
    public let queryType: TypeDefinition
    /// The mutation root type; nil if the schema has no mutations.
    public let mutationType: TypeDefinition?
    /// The subscription root type; nil if the schema has no subscriptions.
    public let subscriptionType: TypeDefinition?
    /// The directives applied to the `schema` definition.
    package let appliedDirectives: [Directive]
    /// Input coercion of custom scalars, by name. A custom scalar without an entry accepts any
    /// value.
    public let scalars: [String: ScalarInput]
    /// The elements of the schema whose use by operations can be counted.
    package let elements: SchemaElements
    /// Whether operations may use `@defer` and `@stream`.
    public let hasIncrementalDelivery: Bool

    private let typesByName: [String: TypeDefinition]
    private let directivesByName: [String: DirectiveDefinition]
    /// The possible object types of each abstract type, in the order of `types`.
    private let possibleTypesByName: [String: [TypeDefinition]]

    /// Creates a schema from checked definitions. Use `buildSchema` to create a schema from SDL.
    init(
        description: String?, types: [TypeDefinition], directives: [DirectiveDefinition],
        queryType: TypeDefinition, mutationType: TypeDefinition?, subscriptionType: TypeDefinition?,
        appliedDirectives: [Directive] = [], scalars: [String: ScalarInput] = [:],
        hasIncrementalDelivery: Bool = false
    ) {
        self.hasIncrementalDelivery = hasIncrementalDelivery
        self.description = description
        self.scalars = scalars
        self.types = types
        elements = SchemaElements(types)
        self.directives = directives
        self.queryType = queryType
        self.mutationType = mutationType
        self.subscriptionType = subscriptionType
        self.appliedDirectives = appliedDirectives
        typesByName = Dictionary(
            types.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        directivesByName = Dictionary(
            directives.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var possible: [String: [TypeDefinition]] = [:]
        for type in types {
            switch type.kind {
            case .object(let object):
                for interface in object.interfaces { possible[interface, default: []].append(type) }
            case .union(let members):
                possible[type.name] = members.compactMap { [typesByName] in typesByName[$0] }
            case .interface:
                if possible[type.name] == nil { possible[type.name] = [] }
            case .scalar, .enumeration, .inputObject:
                break
            }
        }
        possibleTypesByName = possible
    }

    /// Returns the type with this name; nil if there is none.
    public func type(named name: String) -> TypeDefinition? { typesByName[name] }

    /// Returns the directive with this name; nil if there is none.
    public func directive(named name: String) -> DirectiveDefinition? { directivesByName[name] }

    /// Returns the root type of an operation, or nil if the schema does not support that kind of
    /// operation.
    public func rootType(of kind: OperationKind) -> TypeDefinition? {
        switch kind {
        case .query: queryType
        case .mutation: mutationType
        case .subscription: subscriptionType
        }
    }

    /// Returns the object types that a value of `type` can have: its possible types if it is
    /// abstract, otherwise the type itself.
    ///
    /// Spec: https://spec.graphql.org/September2025/#GetPossibleTypes()
    public func possibleTypes(of type: TypeDefinition) -> [TypeDefinition] {
        if case .object = type.kind { return [type] }
        return possibleTypesByName[type.name] ?? []
    }
}

/// A named type of the schema.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Types
public final class TypeDefinition: Sendable {
    /// The kind of a type, with what the kind has.
    public enum Kind: Sendable {
        /// A scalar, with the URL of `@specifiedBy`.
        case scalar(specifiedByURL: String?)
        /// An object type.
        case object(FieldsType)
        /// An interface.
        case interface(FieldsType)
        /// The names of the member types.
        case union([String])
        /// An enum with its values.
        case enumeration([EnumValueDefinition])
        /// An input object type.
        case inputObject(InputObjectType)
    }

    /// The name.
    public let name: String
    /// The description in Markdown (CommonMark); nil if there is none.
    public let description: String?
    /// The kind of the type.
    public let kind: Kind
    /// The fields of an object or interface type; nil for other kinds of types.
    public let fieldsType: FieldsType?
    /// The built-in scalar that this type is; nil for all other types.
    let builtInScalar: BuiltInScalar?
    /// The directives applied in the SDL, for printing and for tools.
    package let appliedDirectives: [Directive]

    package init(
        name: String, description: String?, kind: Kind, appliedDirectives: [Directive] = []
    ) {
        fieldsType =
            switch kind {
            case .object(let type), .interface(let type): type
            case .scalar, .union, .enumeration, .inputObject: nil
            }
        builtInScalar = if case .scalar = kind { BuiltInScalar(named: name) } else { nil }
        self.name = name
        self.description = description
        self.kind = kind
        self.appliedDirectives = appliedDirectives
    }

    /// Returns the field with this name; nil if there is none.
    public func field(named name: String) -> FieldDefinition? { fieldsType?.field(named: name) }

    /// Whether the type is a scalar or an enum.
    public var isLeaf: Bool {
        switch kind {
        case .scalar, .enumeration: true
        case .object, .interface, .union, .inputObject: false
        }
    }

    /// Whether the type is an object, interface, or union type.
    public var isComposite: Bool {
        switch kind {
        case .object, .interface, .union: true
        case .scalar, .enumeration, .inputObject: false
        }
    }

    /// Whether the type is an interface or union type.
    public var isAbstract: Bool {
        switch kind {
        case .interface, .union: true
        case .scalar, .object, .enumeration, .inputObject: false
        }
    }

    /// Spec: https://spec.graphql.org/September2025/#IsInputType()
    public var isInput: Bool {
        switch kind {
        case .scalar, .enumeration, .inputObject: true
        case .object, .interface, .union: false
        }
    }

    /// Spec: https://spec.graphql.org/September2025/#IsOutputType()
    public var isOutput: Bool {
        if case .inputObject = kind { false } else { true }
    }
}

/// The fields and interfaces of an object or interface type.
public final class FieldsType: Sendable {
    /// The names of the implemented interfaces.
    public let interfaces: [String]
    /// The fields, in the order of the schema.
    public let fields: [FieldDefinition]
    private let fieldsByName: [String: FieldDefinition]

    package init(interfaces: [String], fields: [FieldDefinition]) {
        self.interfaces = interfaces
        self.fields = fields
        fieldsByName = Dictionary(
            fields.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the field with this name; nil if there is none.
    public func field(named name: String) -> FieldDefinition? { fieldsByName[name] }
}

/// The definition of a field of an object or interface type.
public final class FieldDefinition: Sendable {
    /// The name.
    public let name: String
    /// The description in Markdown (CommonMark); nil if there is none.
    public let description: String?
    /// The arguments, in the order of the schema.
    public let arguments: [InputValueDefinition]
    /// The type with its list and non-null wrappers.
    public let type: TypeReference
    /// The name of `type` without its list and non-null wrappers.
    public let namedType: String
    let hasRequiredArguments: Bool
    /// The reason of `@deprecated`; nil without that directive.
    public let deprecationReason: String?
    package let appliedDirectives: [Directive]

    package init(
        name: String, description: String?, arguments: [InputValueDefinition], type: TypeReference,
        deprecationReason: String? = nil, appliedDirectives: [Directive] = []
    ) {
        namedType = type.namedType
        hasRequiredArguments = arguments.contains(where: \.isRequired)
        self.name = name
        self.description = description
        self.arguments = arguments
        self.type = type
        self.deprecationReason = deprecationReason
        self.appliedDirectives = appliedDirectives
    }

    /// Returns the argument with this name; nil if there is none.
    public func argument(named name: String) -> InputValueDefinition? {
        arguments.first { $0.name == name }
    }
}

/// The definition of an argument or input field.
public final class InputValueDefinition: Sendable {
    /// The name.
    public let name: String
    /// The description in Markdown (CommonMark); nil if there is none.
    public let description: String?
    /// The type with its list and non-null wrappers.
    public let type: TypeReference
    /// The default value as written. `coerceLiteral` coerces it when it is used.
    package let defaultValue: ValueNode?
    /// Whether a value must be provided: the type is non-null and there is no default value.
    ///
    /// Spec: https://spec.graphql.org/September2025/#sec-Required-Arguments
    public let isRequired: Bool
    /// The reason of `@deprecated`; nil without that directive.
    public let deprecationReason: String?
    package let appliedDirectives: [Directive]

    package init(
        name: String, description: String?, type: TypeReference, defaultValue: ValueNode?,
        deprecationReason: String? = nil, appliedDirectives: [Directive] = []
    ) {
        self.name = name
        self.description = description
        self.type = type
        self.defaultValue = defaultValue
        isRequired = type.isNonNull && defaultValue == nil
        self.deprecationReason = deprecationReason
        self.appliedDirectives = appliedDirectives
    }
}

/// The contents of an input object type.
public final class InputObjectType: Sendable {
    /// The input fields, in the order of the schema.
    public let fields: [InputValueDefinition]
    /// Whether exactly one member must be provided, which must not be null.
    public let isOneOf: Bool
    private let fieldsByName: [String: InputValueDefinition]

    package init(fields: [InputValueDefinition], isOneOf: Bool) {
        self.fields = fields
        self.isOneOf = isOneOf
        fieldsByName = Dictionary(
            fields.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the field with this name; nil if there is none.
    public func field(named name: String) -> InputValueDefinition? { fieldsByName[name] }
}

/// A value of an enum.
public final class EnumValueDefinition: Sendable {
    /// The name.
    public let name: String
    /// The description in Markdown (CommonMark); nil if there is none.
    public let description: String?
    /// The reason of `@deprecated`; nil without that directive.
    public let deprecationReason: String?
    package let appliedDirectives: [Directive]

    package init(
        name: String, description: String?, deprecationReason: String? = nil,
        appliedDirectives: [Directive] = []
    ) {
        self.name = name
        self.description = description
        self.deprecationReason = deprecationReason
        self.appliedDirectives = appliedDirectives
    }
}

/// The definition of a directive.
public final class DirectiveDefinition: Sendable {
    /// The name.
    public let name: String
    /// The description in Markdown (CommonMark); nil if there is none.
    public let description: String?
    /// The arguments, in the order of the schema.
    public let arguments: [InputValueDefinition]
    /// Whether the directive may be applied several times at one location.
    public let isRepeatable: Bool
    /// The locations at which the directive may be applied.
    public let locations: [DirectiveLocation]

    package init(
        name: String, description: String?, arguments: [InputValueDefinition], isRepeatable: Bool,
        locations: [DirectiveLocation]
    ) {
        self.name = name
        self.description = description
        self.arguments = arguments
        self.isRepeatable = isRepeatable
        self.locations = locations
    }
}

/// A place where a directive may be applied. The raw value is the name in the specification.
///
/// Spec: https://spec.graphql.org/September2025/#DirectiveLocation
public enum DirectiveLocation: String, Sendable, CaseIterable {
    case query = "QUERY"
    case mutation = "MUTATION"
    case subscription = "SUBSCRIPTION"
    case field = "FIELD"
    case fragmentDefinition = "FRAGMENT_DEFINITION"
    case fragmentSpread = "FRAGMENT_SPREAD"
    case inlineFragment = "INLINE_FRAGMENT"
    case variableDefinition = "VARIABLE_DEFINITION"
    case schema = "SCHEMA"
    case scalar = "SCALAR"
    case object = "OBJECT"
    case fieldDefinition = "FIELD_DEFINITION"
    case argumentDefinition = "ARGUMENT_DEFINITION"
    case interface = "INTERFACE"
    case union = "UNION"
    case enumeration = "ENUM"
    case enumValue = "ENUM_VALUE"
    case inputObject = "INPUT_OBJECT"
    case inputFieldDefinition = "INPUT_FIELD_DEFINITION"
}
