/// Writes the response from the executed frames in one pass, keys in selection order.
///
/// Errors find their path here, because only here is it known. A null where none may be takes back
/// what was written since the nearest place that may be null, so propagation costs nothing until
/// it happens. The recursion is over the plan, whose depth is limited, not over data.
///
/// Spec: https://spec.graphql.org/September2025/#CompleteValue()
struct ResponseCompletion {
    private let plan: OperationPlan
    private let errorsMax: Int
    private var path: [GraphQLError.PathElement] = []
    private var errors: [GraphQLError] = []

    init(plan: OperationPlan, errorsMax: Int) {
        self.plan = plan
        self.errorsMax = errorsMax
    }

    /// - Parameter frames: the root's first.
    mutating func complete(_ frames: [Frame]) -> ExecutionResult {
        var writer = ResponseWriter()
        writer.append("{\"data\":")
        if !write(0, of: frames[0], to: &writer) {
            writer.rewind(to: 8)
            writer.writeNull()
        }
        writer.append(UInt8(ascii: "}"))
        guard !errors.isEmpty else { return ExecutionResult(body: writer.bytes, errors: []) }

        // Errors first, so that a person reading the response sees them.
        var whole = ResponseWriter(capacity: writer.count + 256 * errors.count)
        whole.append("{\"errors\":")
        whole.write(errors)
        whole.append(UInt8(ascii: ","))
        let dataStart = whole.count + 7
        writer.withBytes { whole.append(UnsafeBufferPointer(rebasing: $0.dropFirst())) }
        return ExecutionResult(body: whole.bytes, errors: errors, dataStart: dataStart)
    }

    /// Writes one object.
    ///
    /// - Returns: false when a field that may not be null is: the object is null then.
    private mutating func write(
        _ object: Int, of frame: Frame, to writer: inout ResponseWriter
    ) -> Bool {
        let selection = frame.selection
        let batch = frame.batch
        if selection.outputs.isEmpty {
            writer.append("{}")
            return true
        }
        for position in selection.outputs.indices {
            let output = selection.outputs[position]
            writer.append(selection.keys, output.key)
            let start = writer.count
            switch output.source {
            case .batch:
                let result = batch.write(field: position, of: object, to: &writer)
                if case .value = result { continue }
                reportKey(result, selection.fields[position])
            case .typename:
                writer.write(selection.type.name)
                continue
            case .loaded:
                if write(loadedAt: position, object, frame, to: &writer) { continue }
            }
            if output.isNonNull { return false }
            writer.rewind(to: start)
            writer.writeNull()
        }
        writer.append(UInt8(ascii: "}"))
        return true
    }

    private mutating func write(
        loadedAt position: Int, _ object: Int, _ frame: Frame, to writer: inout ResponseWriter
    ) -> Bool {
        // Every loaded field of an object that is there was loaded.
        guard let loaded = frame.loaded[position] else { return false }
        let field = frame.selection.fields[position]
        path.append(.key(field.selected.responseKey))
        defer { path.removeLast() }
        return write(loaded.slots[object], depth: 0, loaded, field, to: &writer)
    }

    /// Writes the value of a slot.
    ///
    /// - Returns: false when it is null; the caller knows whether that may be.
    private mutating func write(
        _ slot: Slot, depth: Int, _ loaded: LoadedField, _ field: PlannedField,
        to writer: inout ResponseWriter
    ) -> Bool {
        switch slot {
        case .null:
            if field.completion.isNonNull(at: depth) { reportNull(field) }
            return false
        case .error(let index):
            report(loaded.errors[Int(index)], field)
            return false
        case .object(let group, let index):
            switch loaded.groups[Int(group)] {
            case .objects(let frame):
                return write(Int(index), of: frame, to: &writer)
            case .leaves(let batch):
                let result = batch.write(field: 0, of: Int(index), to: &writer)
                if case .value = result { return true }
                report(result, field, depth: depth)
                return false
            }
        case .list(let start, let count):
            writer.append(UInt8(ascii: "["))
            for index in 0..<Int(count) {
                if index > 0 { writer.append(UInt8(ascii: ",")) }
                let itemStart = writer.count
                path.append(.index(index))
                let isWritten = write(
                    loaded.slots[Int(start) + index], depth: depth + 1, loaded, field, to: &writer)
                path.removeLast()
                if !isWritten {
                    if field.completion.isNonNull(at: depth + 1) { return false }
                    writer.rewind(to: itemStart)
                    writer.writeNull()
                }
            }
            writer.append(UInt8(ascii: "]"))
            return true
        }
    }

    /// Tells of the leaf of an object why it has no value, where that is an error.
    private mutating func reportKey(_ result: LeafResult, _ field: PlannedField) {
        path.append(.key(field.selected.responseKey))
        report(result, field, depth: 0)
        path.removeLast()
    }

    private mutating func report(_ result: LeafResult, _ field: PlannedField, depth: Int) {
        switch result {
        case .value: break
        case .null: if field.completion.isNonNull(at: depth) { reportNull(field) }
        case .error(let error): report(error, field)
        }
    }

    private mutating func reportNull(_ field: PlannedField) {
        report(
            FieldError(
                "Cannot return null for non-nullable field "
                    + "\(field.selected.parentType.name).\(field.selected.name)."),
            field)
    }

    private mutating func report(_ error: FieldError, _ field: PlannedField) {
        guard errors.count < errorsMax else { return }
        errors.append(
            GraphQLError(
                error.message,
                locations: field.selected.locations.map { plan.source.location(at: $0.start) },
                path: path, extensions: error.extensions))
    }
}

extension ResponseWriter {
    /// Spec: https://spec.graphql.org/September2025/#sec-Errors
    public mutating func write(_ errors: [GraphQLError]) {
        append(UInt8(ascii: "["))
        for (index, error) in errors.enumerated() {
            if index > 0 { append(UInt8(ascii: ",")) }
            write(error)
        }
        append(UInt8(ascii: "]"))
    }

    public mutating func write(_ error: GraphQLError) {
        append("{\"message\":")
        write(error.message)
        if !error.locations.isEmpty {
            append(",\"locations\":[")
            for (index, location) in error.locations.enumerated() {
                append(index > 0 ? ",{\"line\":" : "{\"line\":")
                write(location.line)
                append(",\"column\":")
                write(location.column)
                append(UInt8(ascii: "}"))
            }
            append(UInt8(ascii: "]"))
        }
        if let path = error.path {
            append(",\"path\":[")
            for (index, element) in path.enumerated() {
                if index > 0 { append(UInt8(ascii: ",")) }
                switch element {
                case .key(let key): write(key)
                case .index(let index): write(index)
                }
            }
            append(UInt8(ascii: "]"))
        }
        if !error.extensions.isEmpty {
            append(",\"extensions\":")
            write(.object(error.extensions))
        }
        append(UInt8(ascii: "}"))
    }
}
