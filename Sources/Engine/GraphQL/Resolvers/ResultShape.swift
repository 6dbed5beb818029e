/// The shape of a closure's result: optionals and lists around a leaf or an object.
indirect enum ResultShape {
    case optional(ResultShape)
    case list(ResultShape)
    case leaf(any LeafValue.Type)
    case object(Any.Type)

    init(_ type: Any.Type) {
        if let container = type as? any ResultContainer.Type {
            self = container.shape
        } else if let leaf = type as? any LeafValue.Type {
            self = .leaf(leaf)
        } else {
            self = .object(type)
        }
    }

    /// Returns why values of this shape are not values of `type`; nil if they are.
    func problem(with type: TypeReference, in objects: ObjectTypes) -> String? {
        switch (type, self) {
        case (.nonNull, .optional): return "\"\(print(type))\" is not nullable"
        case (.nonNull(let inner, _), _): return problem(with: inner, in: objects)
        case (_, .optional(let wrapped)): return wrapped.problem(with: type, in: objects)
        case (.list(let item, _), .list(let shape)): return shape.problem(with: item, in: objects)
        case (.list, _): return "\"\(print(type))\" is a list"
        case (.named, .list): return "\"\(print(type))\" is not a list"
        case (.named(let name), .leaf(let leaf)):
            guard let type = objects.schema.type(named: name.value), type.isLeaf else {
                return "\"\(name.value)\" has fields, and \(leaf) is a leaf"
            }
            return leaf.canBeWritten(as: type)
                ? nil : "\(leaf) cannot be written as \"\(name.value)\""
        case (.named(let name), .object(let object)):
            return objects.problem(with: object, as: name.value)
        }
    }
}

/// Optionals and arrays, whose contents the converters of their types convert.
protocol ResultContainer {
    static var shape: ResultShape { get }

    /// Returns a `ResultConverter<Self>`.
    static func converter(_ field: SelectedField, _ objects: ObjectTypes) -> Any

    /// Returns a `LeafConverter<Self>`; nil if the values are not single leaves.
    static func leafConverter() -> Any?
}

extension Optional: ResultContainer {
    static var shape: ResultShape { .optional(ResultShape(Wrapped.self)) }

    static func converter(_ field: SelectedField, _ objects: ObjectTypes) -> Any {
        let wrapped = ResultConverter<Wrapped>(field, objects)
        return ResultConverter<Self>(makeBatches: wrapped.makeBatches) { value, builder in
            if let value { wrapped.slot(value, builder) } else { .null }
        }
    }

    static func leafConverter() -> Any? {
        guard let wrapped = LeafConverter<Wrapped>() else { return nil }
        return LeafConverter<Self> { value, type, writer in
            if let value { wrapped.write(value, type, &writer) } else { .null }
        }
    }
}

extension Array: ResultContainer {
    static var shape: ResultShape { .list(ResultShape(Element.self)) }

    static func converter(_ field: SelectedField, _ objects: ObjectTypes) -> Any {
        let element = ResultConverter<Element>(field, objects)
        return ResultConverter<Self>(makeBatches: element.makeBatches) { values, builder in
            builder.list(values.map { element.slot($0, builder) })
        }
    }

    static func leafConverter() -> Any? { nil }
}
