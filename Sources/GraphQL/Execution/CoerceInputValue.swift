/// Coerces one value of the request's variables, and collects what is wrong with it.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Input-Values
struct InputValueCoercion {
    let schema: Schema
    /// Whether messages end in "Did you mean …?".
    let hasSuggestions: Bool
    /// Called with the path inside the value, the value there, and what is wrong with it.
    typealias Report = (
        _ path: [GraphQLError.PathElement], _ value: Value, _ message: String
    ) throws(TooManyErrors) -> Void

    /// Stops the coercion: the error limit was reached.
    struct TooManyErrors: Error {}

    /// The coerced value; what it holds in the place of a reported error means nothing.
    func coerce(
        _ value: Value, as type: TypeReference, at path: [GraphQLError.PathElement],
        _ report: Report
    ) throws(TooManyErrors) -> Value {
        switch type {
        case .nonNull(let inner, _):
            if value.isNull {
                try report(
                    path, value, "Expected non-nullable type \"\(print(type))\" not to be null.")
                return .null
            }
            return try coerce(value, as: inner, at: path, report)
        case _ where value.isNull:
            return .null
        case .list(let itemType, _):
            guard case .list(let items) = value else {
                return .list([try coerce(value, as: itemType, at: path, report)])
            }
            var coerced: [Value] = []
            coerced.reserveCapacity(items.count)
            for (index, item) in items.enumerated() {
                coerced.append(try coerce(item, as: itemType, at: path + [.index(index)], report))
            }
            return .list(coerced)
        case .named(let name):
            if let scalar = BuiltInScalar(named: name.value) {
                do throws(CoercionError) { return try scalar.coerce(value) } catch {
                    try report(path, value, error.message)
                    return .null
                }
            }
            return try coerce(value, asNamed: name.value, at: path, report)
        }
    }

    private func coerce(
        _ value: Value, asNamed name: String, at path: [GraphQLError.PathElement], _ report: Report
    ) throws(TooManyErrors) -> Value {
        // A name that is no input type never comes here: variables are checked first, fields by the schema.
        guard let definition = schema.type(named: name) else { return .null }
        switch definition.kind {
        case .scalar:
            guard let scalar = schema.scalars[name] else { return value }
            do throws(CoercionError) { return try scalar(value) } catch {
                try report(path, value, error.message)
            }
        case .enumeration(let values):
            if case .string(let text) = value, values.contains(where: { $0.name == text }) {
                return value
            }
            try report(path, value, enumMismatch(value, name, values.map(\.name)))
        case .inputObject(let type):
            guard case .object(let members) = value else {
                try report(path, value, "Expected type \"\(name)\" to be an object.")
                return .null
            }
            return try coerce(members, as: type, named: name, at: path, report)
        case .object, .interface, .union:
            break
        }
        return .null
    }

    private func enumMismatch(_ value: Value, _ name: String, _ names: [String]) -> String {
        let text = inspect(value)
        guard case .string(let string) = value else {
            return "Enum \"\(name)\" cannot represent non-string value: \(text)."
                + suggestion(for: text, among: names, lead: "the enum value")
        }
        return "Value \"\(shortened(string))\" does not exist in \"\(name)\" enum."
            + suggestion(for: string, among: names, lead: "the enum value")
    }

    /// Names far longer than any of the schema's are not compared: that would cost, and find nothing.
    private func suggestion(
        for text: String, among names: [String], lead: String? = nil
    ) -> String {
        guard hasSuggestions, text.utf8.count <= 256 else { return "" }
        return didYouMean(suggestionList(text, names), lead: lead)
    }

    /// Spec: https://spec.graphql.org/September2025/#sec-Input-Objects.Input-Coercion
    private func coerce(
        _ members: [Value.Member], as type: InputObjectType, named name: String,
        at path: [GraphQLError.PathElement], _ report: Report
    ) throws(TooManyErrors) -> Value {
        var coerced: [Value.Member] = []
        coerced.reserveCapacity(type.fields.count)
        for field in type.fields {
            if let member = members.first(where: { $0.name == field.name }) {
                let value = try coerce(
                    member.value, as: field.type, at: path + [.key(field.name)], report)
                coerced.append(.init(field.name, value))
            } else if let value = schema.defaultValue(of: field) {
                coerced.append(.init(field.name, value))
            } else if case .nonNull = field.type {
                try report(
                    path, .object(members),
                    "Field \"\(field.name)\" of required type \"\(print(field.type))\" was not provided."
                )
            }
        }
        for member in members where type.field(named: member.name) == nil {
            try report(
                path, .object(members),
                "Field \"\(shortened(member.name))\" is not defined by type \"\(name)\"."
                    + suggestion(for: member.name, among: type.fields.map(\.name)))
        }
        if type.isOneOf { try checkOneOf(members, name, at: path, report) }
        return .object(coerced)
    }

    /// Spec: https://spec.graphql.org/September2025/#sec-OneOf-Input-Objects
    private func checkOneOf(
        _ members: [Value.Member], _ name: String, at path: [GraphQLError.PathElement],
        _ report: Report
    ) throws(TooManyErrors) {
        guard let only = members.first, members.count == 1 else {
            return try report(
                path, .object(members),
                "Exactly one key must be specified for OneOf type \"\(name)\".")
        }
        if only.value.isNull {
            try report(
                path + [.key(only.name)], .null, "Field \"\(only.name)\" must be non-null.")
        }
    }
}

extension Schema {
    /// The default of an argument or an input field, coerced; nil where it has none.
    func defaultValue(of definition: InputValueDefinition) -> Value? {
        definition.defaultValue.flatMap { coerceLiteral($0, as: definition.type, schema: self) }
    }
}
