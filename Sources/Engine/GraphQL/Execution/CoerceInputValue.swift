/// Coerces the value of one variable and reports every error in it.
///
/// Remaining steps and finished values are kept on explicit stacks, so nesting does not use the
/// thread's stack. After every `stepsPerTurn` steps, other tasks of the executor have their turn.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Input-Values
struct InputValueCoercion {
    let schema: Schema
    /// Whether error messages end in "Did you mean …?".
    let hasSuggestions: Bool
    private var steps: [Step] = []
    private var values: [Value] = []
    /// The path of the current value inside the variable.
    private var path: [GraphQLError.PathElement] = []
    /// The coerced default values of the input fields that were missing so far. A list may contain thousands of objects
    /// without them.
    private var defaults: [FieldKey: Value?] = [:]

    private struct FieldKey: Hashable {
        let type: String
        let field: String
    }

    /// Called for each error with the path inside the variable, the invalid value, and the message.
    typealias Report = (
        _ path: [GraphQLError.PathElement], _ value: Value, _ message: String
    ) throws(TooManyErrors) -> Void

    /// Thrown by `Report` to stop the coercion once the error limit is reached.
    struct TooManyErrors: Error {}

    private static let stepsPerTurn = 500

    private enum Step {
        /// `depth` is the path length of the enclosing list or object.
        case coerce(Value, TypeReference, at: GraphQLError.PathElement, depth: Int)
        case missing(InputValueDefinition, of: Value, depth: Int)
        case known(Value)
        /// Combines the last `count` values into a list.
        case list(count: Int)
        case object([String], of: [Value.Member], InputObjectType, named: String, depth: Int)
    }

    init(schema: Schema, hasSuggestions: Bool) {
        self.schema = schema
        self.hasSuggestions = hasSuggestions
    }

    /// Returns the coerced value. If errors were reported, the result must not be used.
    mutating func coerce(
        _ value: Value, as type: TypeReference, _ report: Report
    ) async throws(TooManyErrors) -> Value {
        try start(value, type, report)
        var stepCount = 0
        while let step = steps.popLast() {
            stepCount += 1
            if stepCount.isMultiple(of: Self.stepsPerTurn) { await Task.yield() }
            switch step {
            case .coerce(let value, let type, let element, let depth):
                path.removeSubrange(depth...)
                path.append(element)
                try start(value, type, report)
            case .missing(let field, let value, let depth):
                try report(
                    Array(path.prefix(depth)), value,
                    "Field \"\(field.name)\" of required type \"\(print(field.type))\" was not provided."
                )
            case .known(let value):
                values.append(value)
            case .list(let count):
                let items = Array(values.suffix(count))
                values.removeLast(count)
                values.append(.list(items))
            case .object(let names, let given, let type, let name, let depth):
                let members = zip(names, values.suffix(names.count)).map(Value.Member.init)
                values.removeLast(names.count)
                values.append(.object(members))
                path.removeSubrange(depth...)
                try checkMembers(given, of: type, named: name, report)
            }
        }
        return values.last ?? .null
    }

    /// Pushes the coerced value, or the steps that compute it.
    private mutating func start(
        _ value: Value, _ type: TypeReference, _ report: Report
    ) throws(TooManyErrors) {
        if value.isNull {
            if type.isNonNull {
                try report(
                    path, value, "Expected non-nullable type \"\(print(type))\" not to be null.")
            }
            return values.append(.null)
        }
        var type = type
        while let itemType = type.listItem {
            if case .list(let items) = value {
                steps.append(.list(count: items.count))
                for index in items.indices.reversed() {
                    steps.append(
                        .coerce(items[index], itemType, at: .index(index), depth: path.count))
                }
                return
            }
            steps.append(.list(count: 1))
            type = itemType
        }
        let name = type.namedType
        if let scalar = BuiltInScalar(named: name) {
            do throws(CoercionError) { values.append(try scalar.coerce(value)) } catch {
                try report(path, value, error.message)
                values.append(.null)
            }
        } else {
            try start(value, asNamed: name, report)
        }
    }

    private mutating func start(
        _ value: Value, asNamed name: String, _ report: Report
    ) throws(TooManyErrors) {
        // Unreachable: the types of variables are checked before, and those of input fields when
        // the schema is built.
        guard let definition = schema.type(named: name) else { return values.append(.null) }
        switch definition.kind {
        case .scalar:
            guard let scalar = schema.scalars[name] else { return values.append(value) }
            do throws(CoercionError) { return values.append(try scalar(value)) } catch {
                try report(path, value, error.message(for: name))
            }
        case .enumeration(let allowed):
            if case .string(let text) = value, allowed.contains(where: { $0.name == text }) {
                return values.append(value)
            }
            try report(path, value, enumMismatch(value, name, allowed.map(\.name)))
        case .inputObject(let type):
            guard case .object(let members) = value else {
                try report(path, value, "Expected type \"\(name)\" to be an object.")
                break
            }
            return start(members, of: type, named: name)
        case .object, .interface, .union:
            break
        }
        values.append(.null)
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

    /// Returns a suggestion for a misspelled name. Names of more than 256 bytes get none: comparing
    /// them is expensive and would not find a match.
    private func suggestion(
        for text: String, among names: [String], lead: String? = nil
    ) -> String {
        guard hasSuggestions, text.utf8.count <= 256 else { return "" }
        return didYouMean(suggestionList(text, names), lead: lead)
    }

    /// Spec: https://spec.graphql.org/September2025/#sec-Input-Objects.Input-Coercion
    private mutating func start(
        _ members: [Value.Member], of type: InputObjectType, named name: String
    ) {
        let depth = path.count
        var names: [String] = []
        var fields: [Step] = []
        for field in type.fields {
            if let member = members.first(where: { $0.name == field.name }) {
                names.append(field.name)
                fields.append(
                    .coerce(member.value, field.type, at: .key(field.name), depth: depth))
            } else if let value = defaultValue(of: field, in: name) {
                names.append(field.name)
                fields.append(.known(value))
            } else if field.type.isNonNull {
                fields.append(.missing(field, of: .object(members), depth: depth))
            }
        }
        steps.append(.object(names, of: members, type, named: name, depth: depth))
        steps += fields.reversed()
    }

    /// Returns the coerced default value of an input field, or nil if there is none.
    private mutating func defaultValue(
        of field: InputValueDefinition, in type: String
    ) -> Value? {
        if field.defaultValue == nil { return nil }
        let key = FieldKey(type: type, field: field.name)
        if let known = defaults[key] { return known }
        let value = schema.defaultValue(of: field)
        defaults[key] = .some(value)
        return value
    }

    /// Reports members that the type does not define, and violations of the OneOf rules.
    private func checkMembers(
        _ members: [Value.Member], of type: InputObjectType, named name: String, _ report: Report
    ) throws(TooManyErrors) {
        for member in members where type.field(named: member.name) == nil {
            try report(
                path, .object(members),
                "Field \"\(shortened(member.name))\" is not defined by type \"\(name)\"."
                    + suggestion(for: member.name, among: type.fields.map(\.name)))
        }
        if type.isOneOf { try checkOneOf(members, of: type, name, report) }
    }

    /// Reports a OneOf input object that does not have exactly one non-null member. Members that
    /// the type does not define do not count, because they have already been reported.
    ///
    /// Spec: https://spec.graphql.org/September2025/#sec-OneOf-Input-Objects
    private func checkOneOf(
        _ members: [Value.Member], of type: InputObjectType, _ name: String, _ report: Report
    ) throws(TooManyErrors) {
        let keys = members.filter { type.field(named: $0.name) != nil }
        guard let only = keys.first, keys.count == 1 else {
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
    /// Returns the coerced default value of an argument or input field, or nil if there is none.
    func defaultValue(of definition: InputValueDefinition) -> Value? {
        definition.defaultValue.flatMap { coerceLiteral($0, as: definition.type, schema: self) }
    }
}
