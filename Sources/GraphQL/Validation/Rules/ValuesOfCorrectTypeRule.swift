/// Literals are of the type their place expects.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Values-of-Correct-Type
struct ValuesOfCorrectTypeRule: ValidationRule {
    /// What is still to be checked inside of a value.
    private enum Pending {
        case value(ValueNode, TypeReference)
        /// A field that the input object of that name does not have.
        case unknown(ObjectField, InputObjectType, String)
    }

    func enter(_ value: ValueNode, in context: inout ValidationContext) {
        guard let type = context.inputType else { return }
        // A stack instead of recursion, the next one last.
        var pending: [Pending] = []
        check(value, type, &pending, in: &context)
        while let next = pending.popLast() {
            switch next {
            case .value(let value, let type):
                check(value, type, &pending, in: &context)
            case .unknown(let field, let type, let typeName):
                let suggestion = context.suggestion(
                    for: field.name.value, among: type.fields.map(\.name))
                context.report(
                    "Field \"\(field.name.value)\" is not defined by type \"\(typeName)\"."
                        + suggestion, at: field.range)
            }
        }
    }

    private func check(
        _ value: ValueNode, _ type: TypeReference, _ pending: inout [Pending],
        in context: inout ValidationContext
    ) {
        switch value.kind {
        case .variable:
            break  // VariablesInAllowedPosition sees to it.
        case .null:
            if type.isNonNull { reportUnexpected(value, type, in: &context) }
        case .list(let items):
            guard let itemType = type.listItem else {
                return checkLeaf(value, type.nullable, in: &context)
            }
            pending += items.map { .value($0, itemType) }.reversed()
        case .object(let fields):
            guard let inputObject = context.schema.inputObject(named: type.namedType) else {
                return checkLeaf(value, type, in: &context)
            }
            check(value, fields, inputObject, type.namedType, &pending, in: &context)
        case .int, .float, .string, .boolean, .enumeration:
            checkLeaf(value, type, in: &context)
        }
    }

    private func check(
        _ value: ValueNode, _ fields: NodeList<ObjectField>, _ type: InputObjectType,
        _ typeName: String, _ pending: inout [Pending], in context: inout ValidationContext
    ) {
        for definition in type.fields
        where definition.isRequired && !fields.contains(where: { $0.name.value == definition.name })
        {
            context.report(
                "Field \"\(typeName).\(definition.name)\" of required type "
                    + "\"\(print(definition.type))\" was not provided.", at: value.range)
        }
        if type.isOneOf { checkOneOf(value, fields, typeName, in: &context) }
        pending +=
            fields.map { field in
                type.field(named: field.name.value).map { .value(field.value, $0.type) }
                    ?? .unknown(field, type, typeName)
            }.reversed()
    }

    /// Spec: https://spec.graphql.org/September2025/#sec-All-Variable-Usages-Are-Allowed and
    /// https://spec.graphql.org/September2025/#sec-OneOf-Input-Objects
    private func checkOneOf(
        _ value: ValueNode, _ fields: NodeList<ObjectField>, _ typeName: String,
        in context: inout ValidationContext
    ) {
        // Of several with one name, the last is meant.
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

    /// A value that is no input object and no list of the place's type: the scalar or enum decides.
    private func checkLeaf(
        _ value: ValueNode, _ type: TypeReference, in context: inout ValidationContext
    ) {
        guard let definition = context.schema.type(named: type.namedType) else { return }
        switch definition.kind {
        case .enumeration(let values):
            checkEnum(value, definition.name, values, in: &context)
        case .scalar:
            checkScalar(value, type, definition.name, in: &context)
        case .inputObject:
            reportUnexpected(value, type, in: &context)
        case .object, .interface, .union:
            break
        }
    }

    private func checkScalar(
        _ value: ValueNode, _ type: TypeReference, _ name: String,
        in context: inout ValidationContext
    ) {
        if let scalar = BuiltInScalar(named: name) {
            do throws(CoercionError) {
                _ = try scalar.coerce(value)
            } catch {
                context.report(error.message, at: value.range)
            }
        } else if let input = context.schema.scalars[name], !value.mentionsVariables {
            do throws(CoercionError) {
                _ = try input(value.untyped())
            } catch {
                context.report(
                    "Expected value of type \"\(print(type))\", found \(print(value)); "
                        + error.message, at: value.range)
            }
        }
    }

    private func checkEnum(
        _ value: ValueNode, _ typeName: String, _ values: [EnumValueDefinition],
        in context: inout ValidationContext
    ) {
        let text = print(value)
        let problem: String
        if case .enumeration(let name) = value.kind {
            if values.contains(where: { $0.name == name }) { return }
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
