/// Literals are valid values of the type that is expected at their position.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Values-of-Correct-Type
struct ValuesOfCorrectTypeRule: ValidationRule {
    /// A part of a value that remains to be checked.
    private enum Pending {
        case value(ValueNode, TypeReference, TypeDefinition?)
        /// A field that the input object type with the given name does not define.
        case unknown(ObjectField, InputObjectType, String)
    }

    func enter(_ value: ValueNode, in context: inout ValidationContext) {
        // `VariablesInAllowedPositionRule` checks variables.
        guard !value.isVariable, let position = context.input else { return }
        // A stack instead of recursion. The next part to check is last.
        var pending: [Pending] = []
        check(value, position.type, position.namedType, &pending, in: &context)
        while let next = pending.popLast() {
            switch next {
            case .value(let value, let type, let namedType):
                check(value, type, namedType, &pending, in: &context)
            case .unknown(let field, let type, let typeName):
                let suggestion = context.suggestion(
                    for: field.name.value, among: type.fields.map(\.name))
                context.report(
                    "Field \"\(field.name.value)\" is not defined by type \"\(typeName)\"."
                        + suggestion, at: field.range)
            }
        }
    }

    /// - Parameter namedType: `type` without its list and non-null wrappers.
    private func check(
        _ value: ValueNode, _ type: TypeReference, _ namedType: TypeDefinition?,
        _ pending: inout [Pending], in context: inout ValidationContext
    ) {
        switch value.reference.kind {
        case .variable:
            break
        case .null:
            if type.isNonNull { reportUnexpected(value, type, in: &context) }
        case .list:
            guard let itemType = type.listItem else {
                return checkLeaf(value, type.nullable, namedType, in: &context)
            }
            let items: NodeList<ValueNode> = value.reference.children()
            pending += items.map { .value($0, itemType, namedType) }.reversed()
        case .object:
            guard let namedType, case .inputObject(let inputObject) = namedType.kind else {
                return checkLeaf(value, type, namedType, in: &context)
            }
            check(
                value, value.reference.children(), inputObject, namedType.name, &pending,
                in: &context)
        default:
            checkLeaf(value, type, namedType, in: &context)
        }
    }

    private func check(
        _ value: ValueNode, _ fields: NodeList<ObjectField>, _ type: InputObjectType,
        _ typeName: String, _ pending: inout [Pending], in context: inout ValidationContext
    ) {
        for definition in type.fields
        where definition.isRequired && !fields.contains(where: { $0.nameText == definition.name }) {
            context.report(
                "Field \"\(typeName).\(definition.name)\" of required type "
                    + "\"\(print(definition.type))\" was not provided.", at: value.range)
        }
        if type.isOneOf { checkOneOf(value, fields, typeName, in: &context) }
        let first = pending.count
        for field in fields {
            if let position = context.inputPosition(of: field, in: type) {
                pending.append(.value(field.value, position.type, position.namedType))
            } else {
                pending.append(.unknown(field, type, typeName))
            }
        }
        pending[first...].reverse()
    }

    /// Spec: https://spec.graphql.org/September2025/#sec-All-Variable-Usages-Are-Allowed and
    /// https://spec.graphql.org/September2025/#sec-OneOf-Input-Objects
    private func checkOneOf(
        _ value: ValueNode, _ fields: NodeList<ObjectField>, _ typeName: String,
        in context: inout ValidationContext
    ) {
        // If the same field occurs more than once, the last one is used.
        guard let field = Array(fields).last, fields.allSatisfy({ $0.name == field.name }) else {
            context.report(
                "OneOf Input Object \"\(typeName)\" must specify exactly one key.", at: value.range)
            return
        }
        if case .null = field.value.kind {
            context.report(
                "Field \"\(typeName).\(field.name.value)\" must be non-null.", at: value.range)
        }
    }

    /// Checks a value whose type is determined by a scalar or enum, because it is not a list or
    /// input object of the expected type.
    private func checkLeaf(
        _ value: ValueNode, _ type: TypeReference, _ namedType: TypeDefinition?,
        in context: inout ValidationContext
    ) {
        guard let namedType else { return }
        switch namedType.kind {
        case .enumeration(let values):
            checkEnum(value, namedType.name, values, in: &context)
        case .scalar:
            checkScalar(value, type, namedType, in: &context)
        case .inputObject:
            reportUnexpected(value, type, in: &context)
        case .object, .interface, .union:
            break
        }
    }

    private func checkScalar(
        _ value: ValueNode, _ type: TypeReference, _ definition: TypeDefinition,
        in context: inout ValidationContext
    ) {
        if let scalar = definition.builtInScalar {
            if scalar.acceptsEveryLiteral(of: value.reference.kind) { return }
            do throws(CoercionError) {
                _ = try scalar.coerce(value)
            } catch {
                context.report(error.message, at: value.range)
            }
        } else if let input = context.schema.scalars[definition.name], !value.containsVariables {
            do throws(CoercionError) {
                _ = try input(value.untyped())
            } catch {
                context.report(
                    "Expected value of type \"\(print(type))\", found \(print(value)); "
                        + error.message(for: definition.name), at: value.range)
            }
        }
    }

    private func checkEnum(
        _ value: ValueNode, _ typeName: String, _ values: [EnumValueDefinition],
        in context: inout ValidationContext
    ) {
        let isEnumeration = value.reference.kind == .enumeration
        let text = isEnumeration ? value.reference.nameText : print(value)
        let problem: String
        if isEnumeration {
            if values.contains(where: { $0.name == text }) { return }
            problem = "Value \"\(text)\" does not exist in \"\(typeName)\" enum."
        } else {
            problem = "Enum \"\(typeName)\" cannot represent non-enum value: \(text)."
        }
        let suggestion = context.suggestion(
            suggestionList(text, values.map(\.name)), lead: "the enum value")
        context.report(problem + suggestion, at: value.range)
    }

    private func reportUnexpected(
        _ value: ValueNode, _ type: TypeReference, in context: inout ValidationContext
    ) {
        context.report(
            "Expected value of type \"\(print(type))\", found \(print(value)).", at: value.range)
    }
}
