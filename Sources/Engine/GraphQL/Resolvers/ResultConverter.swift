/// Converts the results of a closure for one selected field to slots. Created when an operation is planned, and shared by
/// its requests.
struct ResultConverter<Result>: Sendable {
    /// Returns the empty batches to which `slot` adds objects or leaves: one for each of the field's `selections`, or one
    /// for leaves.
    let makeBatches: @Sendable () -> [any GrowingBatch]
    let slot: @Sendable (Result, ResultBuilder) -> Slot

    init(
        makeBatches: @escaping @Sendable () -> [any GrowingBatch],
        slot: @escaping @Sendable (Result, ResultBuilder) -> Slot
    ) {
        self.makeBatches = makeBatches
        self.slot = slot
    }

    /// - Precondition: `ResultShape` has found no problem with the field's type.
    init(_ field: SelectedField, _ objects: ObjectTypes) {
        let converter: Any
        if let container = Result.self as? any ResultContainer.Type {
            converter = container.converter(field, objects)
        } else if let leaf = Result.self as? any LeafValue.Type,
            let type = objects.schema.type(named: field.definition.namedType)
        {
            converter = Self.leaf(leaf, type)
        } else {
            converter = Self.object(field, objects)
        }
        // Each of the three returns the converter of the type `Result`.
        guard let converter = converter as? Self else {
            preconditionFailure("the converter of \(Result.self) has another type")
        }
        self = converter
    }

    private static func leaf<Leaf: LeafValue>(_: Leaf.Type, _ type: TypeDefinition) -> Any {
        ResultConverter<Leaf>(makeBatches: { [Leaves<Leaf>(type)] }) { value, builder in
            builder.add(value, to: 0)
        }
    }

    private static func object(_ field: SelectedField, _ objects: ObjectTypes) -> Self {
        let types = field.selections.map { objects.types[$0.type.name] }
        let makeBatches: @Sendable () -> [any GrowingBatch] = {
            zip(types, field.selections).map { type, selection in
                type?.makeBatch(selection, objects.schema) ?? NoObjects()
            }
        }
        let isAbstract = objects.schema.type(named: field.definition.namedType)?.isAbstract == true
        guard isAbstract else {
            return Self(makeBatches: makeBatches) { value, builder in builder.add(value, to: 0) }
        }
        return Self(makeBatches: makeBatches) { value, builder in
            let type = ObjectIdentifier(Swift.type(of: value as Any))
            guard let group = types.firstIndex(where: { $0?.swiftType == type }) else {
                return builder.unknownType(of: value)
            }
            return builder.add(value, to: group)
        }
    }

    /// Returns the results for all parents as children. An error becomes the value of its parent.
    func children(
        of results: [Swift.Result<Result, any Error>], for field: SelectedField,
        in context: any ExecutionContext
    ) -> Children {
        let builder = ResultBuilder(
            field, context, parentCount: results.count, batches: makeBatches())
        for (index, result) in results.enumerated() {
            builder.slots[index] =
                switch result {
                case .success(let value): slot(value, builder)
                case .failure(let error): builder.failure(error)
                }
        }
        return builder.children
    }
}

/// Writes the result of a closure as a single leaf.
struct LeafConverter<Result>: Sendable {
    let write: @Sendable (Result, TypeDefinition, inout ResponseWriter) -> LeafResult

    init(_ write: @escaping @Sendable (Result, TypeDefinition, inout ResponseWriter) -> LeafResult)
    {
        self.write = write
    }

    /// Returns nil if the results are not single leaves.
    init?() {
        let converter: Any?
        if let container = Result.self as? any ResultContainer.Type {
            converter = container.leafConverter()
        } else if let leaf = Result.self as? any LeafValue.Type {
            converter = Self.leaf(leaf)
        } else {
            converter = nil
        }
        guard let converter = converter as? Self else { return nil }
        self = converter
    }

    private static func leaf<Leaf: LeafValue>(_: Leaf.Type) -> Any {
        LeafConverter<Leaf> { value, type, writer in value.write(as: type, to: &writer) }
    }
}

/// Collects the slots of one field for all its parents.
final class ResultBuilder {
    /// One slot for each parent, followed by the items of lists.
    var slots: [Slot]
    private let batches: [any GrowingBatch]
    private var errors: [FieldError] = []
    private let field: SelectedField
    private let context: any ExecutionContext

    init(
        _ field: SelectedField, _ context: any ExecutionContext, parentCount: Int,
        batches: [any GrowingBatch]
    ) {
        self.field = field
        self.context = context
        self.batches = batches
        slots = Array(repeating: .null, count: parentCount)
    }

    var children: Children {
        Children(
            slots: slots,
            groups: batches.enumerated().map {
                Children.Group($0.element, selection: field.selections.isEmpty ? 0 : $0.offset)
            },
            errors: errors)
    }

    func list(_ items: [Slot]) -> Slot {
        slots += items
        return .list(start: Int32(slots.count - items.count), count: Int32(items.count))
    }

    func add<Object>(_ object: Object, to group: Int) -> Slot {
        let batch = batches[group]
        if let batch = batch as? Leaves<Object> {
            batch.values.append(object)
        } else if let batch = batch as? Objects<Object> {
            batch.append(object)
        } else if !batch.append(object) {
            return unknownType(of: object)
        }
        return .object(group: Int32(group), index: Int32(batch.count - 1))
    }

    /// Returns the error of a value whose Swift type no possible type of the field has.
    func unknownType(of value: some Any) -> Slot {
        let type = Swift.type(of: value as Any)
        return failure(
            LoaderDefect(
                field, "returned a value of the Swift type \(type), which has no resolvers"))
    }

    func failure(_ error: any Error) -> Slot {
        errors.append(context.fieldError(error, of: field))
        return .error(Int32(errors.count - 1))
    }
}

extension ExecutionContext {
    /// Returns the error of a field whose closure has thrown `error`. Clients see only the message of a `FieldError`.
    func fieldError(_ error: any Error, of field: SelectedField) -> FieldError {
        switch error {
        case let error as FieldError: error
        case let defect as LoaderDefect: self.error(for: defect)
        // The client has disconnected, or the request took too long.
        case is CancellationError: .internalError
        default: self.error(for: LoaderDefect(field, "threw \(error)"))
        }
    }
}
