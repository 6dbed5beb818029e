extension TypeReference {
    /// The name without the list and non-null wrappers.
    ///
    /// Spec: https://spec.graphql.org/September2025/#sec-Wrapping-Types
    public var namedType: String {
        switch self {
        case .named(let name): name.value
        case .list(let inner, _), .nonNull(let inner, _): inner.namedType
        }
    }

    /// Whether the outermost wrapper is non-null.
    public var isNonNull: Bool { if case .nonNull = self { true } else { false } }

    /// The type without an outer non-null wrapper.
    public var nullable: TypeReference {
        if case .nonNull(let inner, _) = self { inner } else { self }
    }

    /// The item type of a list or non-null list; nil for all other types.
    public var listItem: TypeReference? {
        if case .list(let inner, _) = nullable { inner } else { nil }
    }

    package var range: SourceRange {
        switch self {
        case .named(let name): name.range
        case .list(_, let range), .nonNull(_, let range): range
        }
    }

    /// Whether both references denote the same type. Their positions in the source are ignored.
    package func isSame(as other: TypeReference) -> Bool {
        switch (self, other) {
        case (.named(let left), .named(let right)): left.value == right.value
        case (.list(let left, _), .list(let right, _)): left.isSame(as: right)
        case (.nonNull(let left, _), .nonNull(let right, _)): left.isSame(as: right)
        default: false
        }
    }
}

extension Schema {
    /// Whether every value of `type` is also a value of `supertype`.
    ///
    /// Spec: https://spec.graphql.org/September2025/#IsSubType()
    package func isSubtype(_ type: TypeReference, of supertype: TypeReference) -> Bool {
        switch (type, supertype) {
        case (.nonNull(let inner, _), .nonNull(let outer, _)): isSubtype(inner, of: outer)
        case (_, .nonNull): false
        case (.nonNull(let inner, _), _): isSubtype(inner, of: supertype)
        case (.list(let inner, _), .list(let outer, _)): isSubtype(inner, of: outer)
        case (.list, _), (_, .list): false
        case (.named(let left), .named(let right)):
            left.value == right.value || isPossibleType(left.value, of: right.value)
        }
    }

    /// Whether `type` is a possible type of `abstract`: a member of the union, or an object or
    /// interface type that implements the interface.
    package func isPossibleType(_ type: String, of abstract: String) -> Bool {
        guard let abstract = self.type(named: abstract) else { return false }
        switch abstract.kind {
        case .union(let members):
            return members.contains(type)
        case .interface:
            return self.type(named: type)?.fieldsType?.interfaces.contains(abstract.name) ?? false
        case .scalar, .object, .enumeration, .inputObject:
            return false
        }
    }

    /// Whether a value can have both types.
    package func overlap(_ left: TypeDefinition, _ right: TypeDefinition) -> Bool {
        if left === right { return true }
        switch (left.isAbstract, right.isAbstract) {
        case (false, false): return false
        case (true, false): return isPossibleType(right.name, of: left.name)
        case (false, true): return isPossibleType(left.name, of: right.name)
        case (true, true):
            return possibleTypes(of: left).contains { isPossibleType($0.name, of: right.name) }
        }
    }
}
