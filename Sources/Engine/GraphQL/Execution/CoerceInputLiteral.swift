/// Coerces a literal to an input type. Returns nil if the literal is not a value of that type.
///
/// A variable without a value is null as a list item, and its input object field is absent. The
/// values of variables are not checked again, because they have been coerced to their own types.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Input-Values
package func coerceLiteral(
    _ literal: ValueNode, as type: TypeReference, variables: VariableValues = VariableValues(),
    schema: Schema
) -> Value? {
    var coercion = LiteralCoercion(variables: variables, schema: schema)
    return coercion.coerce(literal, as: type)
}

/// Coerces a literal and all values inside it, in the order of the text.
///
/// Remaining steps and finished values are kept on explicit stacks, so nesting does not use the
/// thread's stack.
private struct LiteralCoercion {
    let variables: VariableValues
    let schema: Schema
    private var steps: [Step] = []
    private var values: [Value] = []

    private enum Step {
        case coerce(ValueNode, TypeReference)
        case absent
        /// Combines the last `count` values into a list.
        case list(count: Int)
        case object([String], isOneOf: Bool)
    }

    init(variables: VariableValues, schema: Schema) {
        self.variables = variables
        self.schema = schema
    }

    mutating func coerce(_ literal: ValueNode, as type: TypeReference) -> Value? {
        guard start(literal, type) else { return nil }
        while let step = steps.popLast() {
            switch step {
            case .coerce(let literal, let type):
                guard start(literal, type) else { return nil }
            case .absent:
                values.append(.null)
            case .list(let count):
                let items = Array(values.suffix(count))
                values.removeLast(count)
                values.append(.list(items))
            case .object(let names, let isOneOf):
                let members = zip(names, values.suffix(names.count)).map(Value.Member.init)
                values.removeLast(names.count)
                if isOneOf, members.count != 1 || members[0].value.isNull { return nil }
                values.append(.object(members))
            }
        }
        return values.last
    }

    /// Pushes the coerced value, or the steps that compute it.
    ///
    /// - Returns: false if the literal is not a value of the type.
    private mutating func start(_ literal: ValueNode, _ type: TypeReference) -> Bool {
        if case .variable(let name) = literal.kind {
            guard let value = variables[name] else { return false }
            if case .nonNull = type, value.isNull { return false }
            values.append(value)
            return true
        }
        switch (type.nullable, literal.kind) {
        case (_, .null):
            if type.isNonNull { return false }
            values.append(.null)
        case (.list(let itemType, _), .list(let items)):
            return start(items, itemType)
        case (.list(let itemType, _), _):
            steps.append(.list(count: 1))
            steps.append(.coerce(literal, itemType))
        case (.named(let name), let kind):
            if let scalar = BuiltInScalar(named: name.value) {
                guard let value = try? scalar.coerce(literal) else { return false }
                values.append(value)
            } else {
                return start(literal, kind, asNamed: name.value)
            }
        case (.nonNull, _):
            return false  // The parser does not produce a non-null type inside a non-null type.
        }
        return true
    }

    private mutating func start(_ items: NodeList<ValueNode>, _ itemType: TypeReference) -> Bool {
        steps.append(.list(count: items.count))
        let first = steps.count
        for item in items {
            if !item.isAbsentVariable(in: variables) {
                steps.append(.coerce(item, itemType))
            } else if itemType.isNonNull {
                return false
            } else {
                steps.append(.absent)
            }
        }
        // The stack is popped from its end, so the first item must be last.
        steps[first...].reverse()
        return true
    }

    private mutating func start(
        _ literal: ValueNode, _ kind: ValueNode.Kind, asNamed name: String
    ) -> Bool {
        guard let definition = schema.type(named: name) else { return false }
        switch (definition.kind, kind) {
        case (.scalar, _):
            var value = literal.untyped(variables)
            if let scalar = schema.scalars[name] {
                guard let coerced = try? scalar(value) else { return false }
                value = coerced
            }
            values.append(value)
        case (.enumeration(let allowed), .enumeration(let text)):
            guard allowed.contains(where: { $0.name == text }) else { return false }
            values.append(.string(text))
        case (.inputObject(let type), .object(let fields)):
            return start(fields, of: type)
        default:
            return false
        }
        return true
    }

    private mutating func start(_ given: NodeList<ObjectField>, of type: InputObjectType) -> Bool {
        guard given.allSatisfy({ type.field(named: $0.name.value) != nil }),
            !type.isOneOf || given.count == 1
        else { return false }
        var names: [String] = []
        var literals: [Step] = []
        for field in type.fields {
            let literal = given.first { $0.name.value == field.name }?.value
            let present = literal.flatMap { $0.isAbsentVariable(in: variables) ? nil : $0 }
            if let value = present ?? field.defaultValue {
                names.append(field.name)
                literals.append(.coerce(value, field.type))
            } else if field.type.isNonNull {
                return false
            }
        }
        steps.append(.object(names, isOneOf: type.isOneOf))
        steps += literals.reversed()
        return true
    }
}

extension ValueNode {
    /// Whether the value is or contains a variable. A value without variables needs to be coerced
    /// only once.
    package var containsVariables: Bool {
        let tree = reference.tree
        return (reference.index..<reference.node.next).contains {
            tree.nodes[$0].kind == .variable
        }
    }

    fileprivate func isAbsentVariable(in variables: VariableValues) -> Bool {
        if case .variable(let name) = kind { variables[name] == nil } else { false }
    }

    /// Returns the literal as JSON, which is the input of custom scalars.
    ///
    /// Variables without a value are null in lists and omitted from objects. Enum values become
    /// strings.
    func untyped(_ variables: VariableValues = VariableValues()) -> Value {
        if let leaf = untypedLeaf(variables) { return leaf }
        // Go backwards, so that the members of a list or object are finished before its own node is
        // reached.
        var values: [Value] = []
        for index in (reference.index..<reference.node.next).reversed() {
            let value = ValueNode(NodeReference(tree: reference.tree, index: index))
            switch value.kind {
            case _ where value.reference.kind == .objectField:
                continue
            case .list(let items):
                let inside = values.suffix(items.count).reversed()
                values.replaceSubrange(
                    (values.count - items.count)..., with: [.list(Array(inside))])
            case .object(let fields):
                let inside = zip(fields, values.suffix(fields.count).reversed())
                let members = inside.compactMap { field, value in
                    field.value.isAbsentVariable(in: variables)
                        ? nil : Value.Member(field.name.value, value)
                }
                values.replaceSubrange((values.count - fields.count)..., with: [.object(members)])
            default:
                values.append(value.untypedLeaf(variables) ?? .null)
            }
        }
        return values.last ?? .null
    }

    /// Returns nil for lists and objects.
    private func untypedLeaf(_ variables: VariableValues) -> Value? {
        switch kind {
        case .variable(let name): variables[name] ?? .null
        case .int(let digits): Int(digits).map(Value.int) ?? .bigInt(digits)
        case .float(let digits): .float(Double(digits) ?? .infinity)
        case .string(let text): .string(text.value)
        case .boolean(let value): .boolean(value)
        case .null: .null
        case .enumeration(let name): .string(name)
        case .list, .object: nil
        }
    }
}
