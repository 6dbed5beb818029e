/// A parsed source text: operations and fragments, type-system definitions, or both.
///
/// Names are ASCII, so `String` equality on them is equality of bytes.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Document
public struct Document: Sendable {
    public var source: Source
    public var definitions: [Definition]

    public init(source: Source, definitions: [Definition]) {
        self.source = source
        self.definitions = definitions
    }
}

/// One definition of a document.
public enum Definition: Sendable {
    case operation(OperationDefinition)
    case fragment(FragmentDefinition)
    case typeSystem(TypeSystemDefinition)
}

/// Where a node stands: UTF-8 offsets into the source, `start` inclusive, `end` exclusive.
///
/// Lines and columns are computed from it only when an error needs them.
public struct SourceRange: Hashable, Sendable {
    public var start: Int32
    public var end: Int32

    public init(start: Int32, end: Int32) {
        self.start = start
        self.end = end
    }

    /// For nodes that no source text made.
    public static let none = SourceRange(start: 0, end: 0)
}

/// A name and where it stands.
///
/// Spec: https://spec.graphql.org/September2025/#Name
public struct Name: Sendable, Hashable {
    public var value: String
    public var range: SourceRange

    public init(_ value: String, range: SourceRange = .none) {
        self.value = value
        self.range = range
    }

    public static func == (left: Name, right: Name) -> Bool { left.value == right.value }
    public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

// MARK: - Executable definitions

/// `query`, `mutation` or `subscription`.
public enum OperationKind: String, Sendable, Hashable, CaseIterable {
    case query, mutation, subscription
}

/// Spec: https://spec.graphql.org/September2025/#sec-Language.Operations
public struct OperationDefinition: Sendable {
    public var description: StringValue?
    public var kind: OperationKind
    public var name: Name?
    public var variables: [VariableDefinition]
    public var directives: [Directive]
    public var selectionSet: SelectionSet
    public var range: SourceRange
    /// `{ … }` without a keyword.
    public var isShorthand: Bool

    public init(
        description: StringValue? = nil, kind: OperationKind, name: Name?,
        variables: [VariableDefinition], directives: [Directive], selectionSet: SelectionSet,
        range: SourceRange, isShorthand: Bool = false
    ) {
        self.description = description
        self.kind = kind
        self.name = name
        self.variables = variables
        self.directives = directives
        self.selectionSet = selectionSet
        self.range = range
        self.isShorthand = isShorthand
    }
}

/// Spec: https://spec.graphql.org/September2025/#sec-Language.Variables
public struct VariableDefinition: Sendable {
    public var description: StringValue?
    /// Without the `$`, which its range does cover.
    public var name: Name
    public var type: TypeReference
    public var defaultValue: ValueNode?
    public var directives: [Directive]
    public var range: SourceRange

    public init(
        description: StringValue? = nil, name: Name, type: TypeReference, defaultValue: ValueNode?,
        directives: [Directive], range: SourceRange
    ) {
        self.description = description
        self.name = name
        self.type = type
        self.defaultValue = defaultValue
        self.directives = directives
        self.range = range
    }
}

/// Spec: https://spec.graphql.org/September2025/#sec-Selection-Sets
public struct SelectionSet: Sendable {
    public var selections: [Selection]
    public var range: SourceRange

    public init(selections: [Selection], range: SourceRange) {
        self.selections = selections
        self.range = range
    }
}

public enum Selection: Sendable {
    case field(Field)
    case fragmentSpread(FragmentSpread)
    case inlineFragment(InlineFragment)
}

/// Spec: https://spec.graphql.org/September2025/#sec-Language.Fields
public struct Field: Sendable {
    public var alias: Name?
    public var name: Name
    public var arguments: [Argument]
    public var directives: [Directive]
    public var selectionSet: SelectionSet?
    public var range: SourceRange

    public init(
        alias: Name?, name: Name, arguments: [Argument], directives: [Directive],
        selectionSet: SelectionSet?, range: SourceRange
    ) {
        self.alias = alias
        self.name = name
        self.arguments = arguments
        self.directives = directives
        self.selectionSet = selectionSet
        self.range = range
    }

    /// The key of this field in the response: the alias, or else the name.
    public var responseKey: String { alias?.value ?? name.value }
}

/// Spec: https://spec.graphql.org/September2025/#sec-Language.Arguments
public struct Argument: Sendable {
    public var name: Name
    public var value: ValueNode
    public var range: SourceRange

    public init(name: Name, value: ValueNode, range: SourceRange) {
        self.name = name
        self.value = value
        self.range = range
    }
}

/// Spec: https://spec.graphql.org/September2025/#sec-Language.Directives
public struct Directive: Sendable {
    /// Without the `@`.
    public var name: Name
    public var arguments: [Argument]
    public var range: SourceRange

    public init(name: Name, arguments: [Argument], range: SourceRange) {
        self.name = name
        self.arguments = arguments
        self.range = range
    }
}

/// Spec: https://spec.graphql.org/September2025/#FragmentSpread
public struct FragmentSpread: Sendable {
    public var name: Name
    public var directives: [Directive]
    public var range: SourceRange

    public init(name: Name, directives: [Directive], range: SourceRange) {
        self.name = name
        self.directives = directives
        self.range = range
    }
}

/// Spec: https://spec.graphql.org/September2025/#InlineFragment
public struct InlineFragment: Sendable {
    public var typeCondition: Name?
    public var directives: [Directive]
    public var selectionSet: SelectionSet
    public var range: SourceRange

    public init(
        typeCondition: Name?, directives: [Directive], selectionSet: SelectionSet,
        range: SourceRange
    ) {
        self.typeCondition = typeCondition
        self.directives = directives
        self.selectionSet = selectionSet
        self.range = range
    }
}

/// Spec: https://spec.graphql.org/September2025/#sec-Language.Fragments
public struct FragmentDefinition: Sendable {
    public var description: StringValue?
    public var name: Name
    public var typeCondition: Name
    public var directives: [Directive]
    public var selectionSet: SelectionSet
    public var range: SourceRange

    public init(
        description: StringValue? = nil, name: Name, typeCondition: Name, directives: [Directive],
        selectionSet: SelectionSet, range: SourceRange
    ) {
        self.description = description
        self.name = name
        self.typeCondition = typeCondition
        self.directives = directives
        self.selectionSet = selectionSet
        self.range = range
    }
}

// MARK: - Values and types

/// A value as it is written in a document.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Input-Values
public struct ValueNode: Sendable {
    public enum Kind: Sendable {
        /// Without the `$`.
        case variable(String)
        /// As written: `-12`.
        case int(String)
        /// As written: `1.5e3`.
        case float(String)
        case string(StringValue)
        case boolean(Bool)
        case null
        case enumeration(String)
        case list([ValueNode])
        case object([ObjectField])
    }

    public var kind: Kind
    public var range: SourceRange

    public init(_ kind: Kind, range: SourceRange = .none) {
        self.kind = kind
        self.range = range
    }
}

/// A string literal, escapes and block indentation already resolved.
public struct StringValue: Sendable {
    public var value: String
    public var isBlock: Bool
    public var range: SourceRange

    public init(_ value: String, isBlock: Bool = false, range: SourceRange = .none) {
        self.value = value
        self.isBlock = isBlock
        self.range = range
    }
}

public struct ObjectField: Sendable {
    public var name: Name
    public var value: ValueNode
    public var range: SourceRange

    public init(name: Name, value: ValueNode, range: SourceRange) {
        self.name = name
        self.value = value
        self.range = range
    }
}

/// A type as it is written, by name, with its lists and non-nulls.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Type-References
public enum TypeReference: Sendable {
    case named(Name)
    indirect case list(TypeReference, range: SourceRange)
    indirect case nonNull(TypeReference, range: SourceRange)
}
