/// The elements of a schema that operations can use, numbered from 0: fields, arguments, input
/// fields, and enum values. Introspection and directives are not included.
package struct SchemaElements: Sendable {
    /// The coordinates by number.
    package let coordinates: [SchemaCoordinate]
    /// The numbers of fields and arguments, by the identity of their definitions.
    private let numbers: [ObjectIdentifier: Int]
    /// The input objects and enums.
    private let inputs: [Input]
    private let inputsByName: [String: Int]

    /// The members of an input object, or the values of an enum.
    private struct Input: Sendable {
        var members: [String: Member] = [:]
    }

    private struct Member: Sendable {
        let number: Int
        /// The index in `inputs` of the member's type; nil for scalars and enum values.
        let input: Int?
    }

    init(_ types: [TypeDefinition]) {
        let types = types.filter { !$0.name.hasPrefix("__") }
        var coordinates: [SchemaCoordinate] = []
        var numbers: [ObjectIdentifier: Int] = [:]
        let inputTypes = types.filter { $0.isInput && $0.builtInScalar == nil }
        let inputsByName = Dictionary(
            inputTypes.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        var inputs = Array(repeating: Input(), count: inputTypes.count)
        func add(_ coordinate: SchemaCoordinate) -> Int {
            coordinates.append(coordinate)
            return coordinates.count - 1
        }
        for type in types {
            switch type.kind {
            case .object(let body), .interface(let body):
                for field in body.fields {
                    numbers[ObjectIdentifier(field)] = add(.member(type: type.name, field.name))
                    for argument in field.arguments {
                        numbers[ObjectIdentifier(argument)] = add(
                            .argument(type: type.name, field: field.name, argument.name))
                    }
                }
            case .inputObject(let body):
                guard let index = inputsByName[type.name] else { continue }
                for field in body.fields {
                    inputs[index].members[field.name] = Member(
                        number: add(.member(type: type.name, field.name)),
                        input: inputsByName[field.type.namedType])
                }
            case .enumeration(let values):
                guard let index = inputsByName[type.name] else { continue }
                for value in values {
                    inputs[index].members[value.name] = Member(
                        number: add(.member(type: type.name, value.name)), input: nil)
                }
            case .scalar, .union:
                break
            }
        }
        self.coordinates = coordinates
        self.numbers = numbers
        self.inputs = inputs
        self.inputsByName = inputsByName
    }

    /// Returns the index of an input object or enum; nil for scalars.
    func input(ofType name: String) -> Int? { inputsByName[name] }

    func mark(_ field: FieldDefinition, in set: inout SchemaElementSet) {
        if let number = numbers[ObjectIdentifier(field)] { set.insert(number) }
    }

    /// Marks the arguments of a field, and the elements in their literals. Variables are marked by
    /// their values.
    func mark(
        _ arguments: NodeList<Argument>, of field: FieldDefinition, in set: inout SchemaElementSet
    ) {
        for argument in arguments {
            guard let definition = field.argument(named: argument.name.value) else { continue }
            if let number = numbers[ObjectIdentifier(definition)] { set.insert(number) }
            mark(argument.value, of: input(ofType: definition.type.namedType), in: &set)
        }
    }

    /// Marks the elements in a valid literal.
    ///
    /// - Parameter input: the index of the literal's type; nil for scalars.
    func mark(_ literal: ValueNode, of input: Int?, in set: inout SchemaElementSet) {
        guard let input else { return }
        switch literal.kind {
        case .enumeration(let name):
            if let value = inputs[input].members[name] { set.insert(value.number) }
        case .list(let items):
            for item in items { mark(item, of: input, in: &set) }
        case .object(let fields):
            for field in fields {
                guard let member = inputs[input].members[field.name.value] else { continue }
                set.insert(member.number)
                mark(field.value, of: member.input, in: &set)
            }
        case .variable, .int, .float, .string, .boolean, .null:
            break
        }
    }

    /// Marks the elements in the value of a variable, which was coerced without errors.
    func mark(_ value: Value, of input: Int, in set: inout SchemaElementSet) {
        switch value {
        case .string(let name):
            if let value = inputs[input].members[name] { set.insert(value.number) }
        case .list(let items):
            for item in items { mark(item, of: input, in: &set) }
        case .object(let members):
            for given in members {
                guard let member = inputs[input].members[given.name] else { continue }
                set.insert(member.number)
                if let input = member.input { mark(given.value, of: input, in: &set) }
            }
        case .null, .boolean, .int, .bigInt, .float:
            break
        }
    }
}

/// A set of elements of a schema, by their numbers in `SchemaElements`.
package struct SchemaElementSet: Sendable, Equatable {
    private var words: [UInt64]

    /// Creates an empty set.
    init(_ elements: SchemaElements) {
        words = Array(repeating: 0, count: (elements.coordinates.count + 63) / 64)
    }

    mutating func insert(_ number: Int) { words[number / 64] |= 1 << UInt64(number % 64) }

    /// Adds 1 to the count of each element of the set. `counts` has an entry for each element of the
    /// schema.
    package func increment(_ counts: inout [Int64]) {
        counts.withUnsafeMutableBufferPointer { counts in
            for (index, word) in words.enumerated() {
                var rest = word
                while rest != 0 {
                    counts[index * 64 + rest.trailingZeroBitCount] += 1
                    rest &= rest - 1
                }
            }
        }
    }
}
