/// Writes the response from the executed frames in one pass, keys in selection order.
///
/// Errors find their path here, because only here is it known. A null where none may be takes back
/// what was written since the nearest place that may be null, so propagation costs nothing until
/// it happens. The objects and lists around the place are on a stack of its own: there is no recursion.
///
/// A response above `responseBytesMax` is given up while it is written: the limit is checked before each field and each item, so
/// that at most one leaf is written beyond it.
///
/// Spec: https://spec.graphql.org/September2025/#CompleteValue()
struct ResponseCompletion {
    private let plan: OperationPlan
    private let errorsMax: Int
    private let responseBytesMax: Int
    /// Whether the response was larger than it may be. Nothing more is written then.
    private var isTooLarge = false
    private var path: [GraphQLError.PathElement] = []
    private var errors: [GraphQLError] = []
    private var around: [Place] = []

    /// An object or a list that is being written.
    private struct Place {
        enum Content {
            case object(Frame, Int)
            case list(LoadedField, PlannedField, start: Int, count: Int, depth: Int)
        }

        let content: Content
        /// Of the output or the item that is written.
        var position = 0
        /// Where its value starts.
        var valueStart = 0

        /// Whether the value at its position may not be null.
        var isNonNull: Bool {
            switch content {
            case .object(let frame, _): frame.selection.outputs[position].isNonNull
            case .list(_, let field, _, _, let depth): field.completion.isNonNull(at: depth + 1)
            }
        }
    }

    /// What became of a value.
    private enum Outcome {
        case written
        /// Nothing that counts was written.
        case null
        /// Its place is on the stack.
        case opened
    }

    init(plan: OperationPlan, errorsMax: Int, responseBytesMax: Int) {
        self.plan = plan
        self.errorsMax = errorsMax
        self.responseBytesMax = responseBytesMax
    }

    /// - Parameter frames: the root's first.
    mutating func complete(_ frames: [Frame]) -> ExecutionResult {
        var writer = ResponseWriter()
        writer.append("{\"data\":")
        if !write(frames[0], to: &writer) {
            writer.rewind(to: 8)
            writer.writeNull()
        }
        writer.append(UInt8(ascii: "}"))
        if exceedsLimit(writer.count) { return tooLarge }
        guard !errors.isEmpty else { return ExecutionResult(body: writer.bytes, errors: []) }

        // Errors first, so that a person reading the response sees them.
        var whole = ResponseWriter(capacity: writer.count + 256 * errors.count)
        whole.append("{\"errors\":[")
        for (index, error) in errors.enumerated() {
            if index > 0 { whole.append(UInt8(ascii: ",")) }
            whole.write(error)
            // `],` follows, and the data without its first byte.
            if exceedsLimit(whole.count + 2 + writer.count - 1) { return tooLarge }
        }
        whole.append("],")
        let dataStart = whole.count + 7
        writer.withBytes { whole.append(UnsafeBufferPointer(rebasing: $0.dropFirst())) }
        return ExecutionResult(body: whole.bytes, errors: errors, dataStart: dataStart)
    }

    /// Whether the response is larger than it may be, now or before it was taken back.
    private mutating func exceedsLimit(_ byteCount: Int) -> Bool {
        if byteCount > responseBytesMax { isTooLarge = true }
        return isTooLarge
    }

    private var tooLarge: ExecutionResult {
        let error = GraphQLError.responseTooLarge(bytesMax: responseBytesMax)
        var writer = ResponseWriter()
        writer.append("{\"errors\":")
        writer.write([error])
        writer.append(",\"data\":")
        let dataStart = writer.count
        writer.append("null}")
        return ExecutionResult(body: writer.bytes, errors: [error], dataStart: dataStart)
    }

    /// Writes the root object and all below it.
    ///
    /// - Returns: false when it is null.
    private mutating func write(_ root: Frame, to writer: inout ResponseWriter) -> Bool {
        var outcome = open(0, of: root, to: &writer)
        while !isTooLarge, let innermost = around.indices.last {
            if outcome == .opened {
                outcome = go(on: around[innermost], to: &writer)
                if outcome != .opened { around.removeLast() }
                continue
            }
            // The value at the position of this place is there, or null.
            path.removeLast()
            if outcome == .null, around[innermost].isNonNull {
                around.removeLast()
                continue
            }
            if outcome == .null {
                writer.rewind(to: around[innermost].valueStart)
                writer.writeNull()
            }
            around[innermost].position += 1
            outcome = .opened
        }
        return outcome == .written
    }

    private mutating func go(on place: Place, to writer: inout ResponseWriter) -> Outcome {
        switch place.content {
        case .object(let frame, let object):
            writeFields(of: object, frame, from: place.position, to: &writer)
        case .list(let loaded, let field, let start, let count, let depth):
            writeItems(
                start, count, depth: depth, loaded, field, from: place.position, to: &writer)
        }
    }

    /// Notes where the innermost place stands, because its value is a place of its own.
    private mutating func wait(at position: Int, _ valueStart: Int) -> Outcome {
        // The value's place is the last.
        let innermost = around.count - 2
        around[innermost].position = position
        around[innermost].valueStart = valueStart
        return .opened
    }

    /// Writes an object whose fields are all its own at once; puts others on the stack.
    private mutating func open(
        _ object: Int, of frame: Frame, to writer: inout ResponseWriter
    ) -> Outcome {
        if frame.selection.outputs.isEmpty {
            writer.append("{}")
            return .written
        }
        if frame.selection.loaded.isEmpty {
            return writeFields(of: object, frame, from: 0, to: &writer)
        }
        around.append(Place(content: .object(frame, object)))
        return .opened
    }

    private mutating func writeFields(
        of object: Int, _ frame: Frame, from first: Int, to writer: inout ResponseWriter
    ) -> Outcome {
        let selection = frame.selection
        let batch = frame.batch
        for position in first..<selection.outputs.count {
            if exceedsLimit(writer.count) { return .null }
            let output = selection.outputs[position]
            writer.append(selection.keys, output.key)
            let start = writer.count
            switch output.source {
            case .batch:
                let result = batch.write(field: position, of: object, to: &writer)
                if case .value = result {
                    assert(writer.count > start, "a batch said that it wrote a value, and did not")
                    continue
                }
                reportKey(result, selection.fields[position])
            case .typename:
                writer.write(selection.type.name)
                continue
            case .loaded:
                switch write(loadedAt: position, object, frame, to: &writer) {
                case .written: continue
                case .opened: return wait(at: position, start)
                case .null: break
                }
            }
            if output.isNonNull { return .null }
            writer.rewind(to: start)
            writer.writeNull()
        }
        writer.append(UInt8(ascii: "}"))
        return .written
    }

    private mutating func write(
        loadedAt position: Int, _ object: Int, _ frame: Frame, to writer: inout ResponseWriter
    ) -> Outcome {
        // Every loaded field of an object that is there was loaded.
        guard let loaded = frame.loaded[position] else { return .null }
        let field = frame.selection.fields[position]
        path.append(.key(field.selected.responseKey))
        let outcome = write(loaded.slots[object], depth: 0, loaded, field, to: &writer)
        if outcome != .opened { path.removeLast() }
        return outcome
    }

    private mutating func writeItems(
        _ start: Int, _ count: Int, depth: Int, _ loaded: LoadedField, _ field: PlannedField,
        from first: Int, to writer: inout ResponseWriter
    ) -> Outcome {
        for index in first..<count {
            if exceedsLimit(writer.count) { return .null }
            if index > 0 { writer.append(UInt8(ascii: ",")) }
            let itemStart = writer.count
            path.append(.index(index))
            let outcome = write(
                loaded.slots[start + index], depth: depth + 1, loaded, field, to: &writer)
            if outcome == .opened { return wait(at: index, itemStart) }
            path.removeLast()
            if outcome == .null {
                if field.completion.isNonNull(at: depth + 1) { return .null }
                writer.rewind(to: itemStart)
                writer.writeNull()
            }
        }
        writer.append(UInt8(ascii: "]"))
        return .written
    }

    /// Writes the value of a slot; where it is null, the caller knows whether that may be.
    private mutating func write(
        _ slot: Slot, depth: Int, _ loaded: LoadedField, _ field: PlannedField,
        to writer: inout ResponseWriter
    ) -> Outcome {
        switch slot {
        case .null:
            if field.completion.isNonNull(at: depth) { reportNull(field) }
            return .null
        case .error(let index):
            report(loaded.errors[Int(index)], field)
            return .null
        case .object(let group, let index):
            switch loaded.groups[Int(group)] {
            case .objects(let frame):
                return open(Int(index), of: frame, to: &writer)
            case .leaves(let batch):
                let result = batch.write(field: 0, of: Int(index), to: &writer)
                if case .value = result { return .written }
                report(result, field, depth: depth)
                return .null
            }
        case .list(let start, let count):
            writer.append(UInt8(ascii: "["))
            around.append(
                Place(
                    content: .list(
                        loaded, field, start: Int(start), count: Int(count), depth: depth)))
            return .opened
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
        errors.append(plan.error(error, of: field, at: path))
    }
}

extension GraphQLError {
    /// The error in place of a response that is larger than it may be.
    public static func responseTooLarge(bytesMax: Int) -> GraphQLError {
        GraphQLError(
            "The response is larger than \(bytesMax) bytes. Ask for less at once: fewer fields, or smaller pages.",
            extensions: [
                .init("code", .string("RESPONSE_TOO_LARGE")),
                .init("limit", .string("responseBytesMax")), .init("max", .int(bytesMax)),
            ])
    }
}

extension RequestErrors {
    /// The whole response as JSON: `{"errors": …}`, without `data`, because nothing was executed.
    ///
    /// Spec: https://spec.graphql.org/September2025/#sec-Request-Error-Result
    public var body: [UInt8] {
        var writer = ResponseWriter()
        writer.append("{\"errors\":")
        writer.write(errors)
        writer.append(UInt8(ascii: "}"))
        return writer.bytes
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
