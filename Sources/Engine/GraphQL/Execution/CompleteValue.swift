/// Writes the response of an executed plan.
///
/// Execution produces a tree of frames: batches of objects, with one slot per object for each
/// loaded field. This type walks the tree once, in the order of the selections, and writes JSON
/// directly to a buffer. If a non-nullable value is null, it rewinds the buffer to the start of the
/// nearest nullable ancestor and writes `null` there. Null propagation therefore costs nothing
/// until it happens.
///
/// **State.** There is no recursion: `stack` holds the objects and lists that have been started but
/// not finished, outermost first. Each entry stores the position of the field or item being
/// written, and `valueStart`, the offset of its value in the buffer. `path` holds the response key
/// or list index of each entry but the root, so it is the path of an error that occurs now.
///
/// **Invariant.** When `resume` is called for the innermost entry, all values before its position
/// are complete, and the buffer ends where the next key or item begins.
///
/// **Steps.**
///
/// 1. `resume` writes the fields or items of the innermost entry. It stops when all are written
///    (`.written`), when a non-nullable one is null (`.null`), or after pushing a value that has to
///    be written step by step (`.opened`).
/// 2. After `.opened`, repeat step 1 with the new innermost entry.
/// 3. Otherwise, pop the entry and apply its outcome to the position of the next outer entry:
///     - `.written`: continue after that position.
///     - `.null` at a nullable position: rewind the buffer to `valueStart`, write `null`, and
///       continue after that position.
///     - `.null` at a non-nullable position: pop this entry too and repeat step 3 with `.null`. The
///       incomplete output stays in the buffer until the rewind at an outer entry discards it.
/// 4. If the root object is null, `data` is null.
///
/// Fields after the one that turned an object into null are not written, so their errors are not
/// reported. Errors that were reported before stay in the response.
///
/// With `ErrorBehavior.null`, every position is treated as nullable. With `.halt`, writing stops at the first error, and
/// `data` is null.
///
/// **Example.** Given `book: Book`, `Book.author: Author!`, and `Author.name: String!`, the query
/// `{ book { title author { name } } }` finds an author without a name:
///
///     buffer                                             stack: position, valueStart
///     {"data":{"book":                                   root: book, 16
///     {"data":{"book":{"title":"Emma","author":          root: book, 16 / book
///     {"data":{"book":{"title":"Emma","author":{"name":  name is null: report an error
///     {"data":{"book":null                               rewound to 16
///
/// The entry of `book` gets a position only when a value below it is pushed. That does not happen
/// here: `author` is written without a stack entry, because none of its fields is loaded. It is null
/// because `name` is non-nullable. `book` is null because `author` is non-nullable, so its entry is
/// popped. `Query.book` is nullable, so the buffer is rewound to the `valueStart` of the root
/// entry. The error has the path `["book", "author", "name"]`.
///
/// **Size limit.** The limit `responseBytesMax` is checked before each field and each item, so at most one leaf is
/// written beyond it. Writing then stops, and an error replaces the response.
///
/// Spec: https://spec.graphql.org/September2025/#CompleteValue()
struct ResponseCompletion {
    let plan: OperationPlan
    let context: any ExecutionContext
    /// The maximum number of errors of all responses together.
    let errorsMax: Int
    /// The maximum number of errors here. Further ones are counted.
    var errorsLeft: Int
    private let responseBytesMax: Int
    let errorBehavior: ErrorBehavior
    /// The error that replaces the response, because it exceeds `responseBytesMax`, or `errorsMax` with `ErrorBehavior.null`.
    private(set) var refusal: GraphQLError?
    /// Whether nothing more is written, because of `refusal` or because of an error with `ErrorBehavior.halt`.
    private var isStopped = false
    var path: [GraphQLError.PathElement] = []
    var errors: [GraphQLError] = []
    /// The number of errors after the first `errorsLeft`.
    var omittedErrorCount = 0
    private var stack: [OpenContainer] = []
    /// Collects the values that are delivered after those written here. Nil for a response in one part.
    var deferral: DeferralRecorder?
    /// Whether a null makes the object or list around it null if its type is non-nullable.
    private var propagates: Bool { errorBehavior == .propagate }
    /// The first field that has not been loaded yet, so that the output is incomplete; nil if all have been loaded.
    private(set) var missing: MissingField?
    /// Whether writing stops at a field that has not been loaded yet.
    var stopsAtMissingField = false

    /// An object or a list that is being written.
    private struct OpenContainer {
        enum Content {
            case object(Frame, Int)
            /// A deferred part of an object.
            case part(Frame, Int, DeferredPart)
            case list(LoadedField, PlannedField, start: Int, count: Int, depth: Int)
        }

        let content: Content
        /// The position in `outputs`, or the index of the list item, that is being written.
        var position = 0
        /// The offset in the buffer at which the value of `position` starts. Set only while a
        /// nested entry is on the stack.
        var valueStart = 0

        /// Whether the value at `position` is non-nullable.
        var isNonNull: Bool {
            switch content {
            case .object(let frame, _): frame.selection.outputs[position].isNonNull
            case .part(_, _, let part): part.outputs[position].isNonNull
            case .list(_, let field, _, _, let depth): field.completion.isNonNull(at: depth + 1)
            }
        }
    }

    /// The result of writing a value.
    private enum Outcome {
        case written
        /// The value is null. Anything written for it must be discarded by rewinding.
        case null
        /// The value was pushed on the stack and is written later.
        case opened
    }

    init(
        plan: OperationPlan, context: any ExecutionContext, onError errorBehavior: ErrorBehavior,
        errorsMax: Int, responseBytesMax: Int
    ) {
        self.plan = plan
        self.context = context
        self.errorBehavior = errorBehavior
        self.errorsMax = errorsMax
        errorsLeft = errorsMax
        self.responseBytesMax = responseBytesMax
    }

    /// The number of bytes to write before other tasks of the executor get their turn. It takes about half a millisecond.
    static let sliceBytes = 128 << 10

    /// Returns the whole response. Yields while a large one is written.
    ///
    /// - Parameter frames: all frames, the one of the root first.
    mutating func complete(_ frames: [Frame]) async -> ExecutionResult {
        var writer = ResponseWriter(capacity: expectedByteCount(frames))
        writer.append("{\"data\":")
        let outcome = open(0, of: frames[0], to: &writer)
        let isWritten = await finish(outcome, to: &writer)
        return end(&writer, isWritten: isWritten)
    }

    /// Writes a loaded field of the root object and everything below it, only to find errors.
    mutating func tryField(_ position: Int, of root: Frame) async {
        var writer = ResponseWriter(capacity: 4096)
        let outcome = write(loadedAt: position, 0, root, to: &writer)
        _ = await finish(outcome, to: &writer)
    }

    /// Ends the response after the data has been written, or has turned out to be null.
    private mutating func end(
        _ writer: inout ResponseWriter, isWritten: Bool
    ) -> ExecutionResult {
        if !isWritten || isHalted {
            rewind(&writer, to: 8)  // after `{"data":`
            writer.writeNull()
        }
        writer.append(UInt8(ascii: "}"))
        if let refusal = refusal(at: writer.count) { return .failed(refusal) }
        errors += omitted(omittedErrorCount)
        guard !errors.isEmpty else { return ExecutionResult(body: writer.bytes, errors: []) }

        // Put errors first, so that people reading the response see them.
        var response = ResponseWriter(capacity: writer.count + 256 * errors.count)
        response.append("{\"errors\":[")
        for (index, error) in errors.enumerated() {
            if index > 0 { response.append(UInt8(ascii: ",")) }
            response.write(error)
            // `],` follows, and the data without its first byte.
            if let refusal = refusal(at: response.count + 2 + writer.count - 1) {
                return .failed(refusal)
            }
        }
        response.append("],")
        let dataStart = response.count + 7  // after `"data":`
        writer.withBytes { response.append(UnsafeBufferPointer(rebasing: $0.dropFirst())) }
        return ExecutionResult(body: response.bytes, errors: errors, dataStart: dataStart)
    }

    /// Returns the approximate size of the response, so that the buffer of a large response need not grow step by step, which
    /// copies it. The size of leaves is not known; most of them are short.
    private func expectedByteCount(_ frames: [Frame]) -> Int {
        var byteCount = 4096
        for frame in frames {
            let selection = frame.selection
            let objectBytes = selection.keys.count + 24 * selection.outputs.count
            byteCount += frame.batch.count * objectBytes
            if byteCount > 1 << 20 { break }
        }
        return min(byteCount, responseBytesMax, 1 << 20)
    }

    /// Returns the error that replaces the response if it exceeds a limit, now or before a part of it was discarded.
    private mutating func refusal(at byteCount: Int) -> GraphQLError? {
        _ = mustStop(at: byteCount)
        return refusal
    }

    /// Returns whether nothing more is written.
    private mutating func mustStop(at byteCount: Int) -> Bool {
        if byteCount > responseBytesMax { refuse(.responseTooLarge(bytesMax: responseBytesMax)) }
        return isStopped
    }

    /// Replaces the response by an error.
    mutating func refuse(_ error: GraphQLError) {
        if refusal == nil { refusal = error.coded(by: plan.errorCodes) }
        isStopped = true
    }

    /// Whether an error has ended the execution.
    var isHalted: Bool { errorBehavior == .halt && !errors.isEmpty }

    /// Stops writing if errors end the execution.
    mutating func halt() { if errorBehavior == .halt { isStopped = true } }

    /// Discards everything after the first `count` bytes, with what would be delivered later for it.
    private mutating func rewind(_ writer: inout ResponseWriter, to count: Int) {
        writer.rewind(to: count)
        deferral?.rewind(to: count)
    }

    /// Writes a deferred part of an object and everything below it.
    ///
    /// - Returns: false if the object is null because of a non-nullable field of the part.
    mutating func write(
        _ part: DeferredPart, of object: Int, _ frame: Frame, to writer: inout ResponseWriter
    ) async -> Bool {
        stack.append(OpenContainer(content: .part(frame, object, part)))
        return await finish(.opened, to: &writer)
    }

    /// Writes an item of a streamed list and everything below it, or null.
    ///
    /// - Returns: false if the item is null, but must not be, or if an error has ended the execution.
    mutating func writeItem(
        _ index: Int, of list: ListStream, to writer: inout ResponseWriter
    ) async -> Bool {
        let start = writer.count
        path.append(.index(index))
        defer { path.removeLast() }
        let outcome = write(
            list.loaded.slots[list.start + index], depth: 1, list.loaded, list.field, to: &writer)
        if await finish(outcome, to: &writer) { return !isHalted }
        if isHalted || propagates && list.field.completion.isNonNull(at: 1) { return false }
        rewind(&writer, to: start)
        writer.writeNull()
        return true
    }

    /// Writes the values on the stack and everything below them. Yields after each slice.
    ///
    /// - Returns: false if the outermost value is null.
    private mutating func finish(
        _ outcome: Outcome, to writer: inout ResponseWriter
    ) async -> Bool {
        var outcome = proceed(outcome, to: &writer, until: writer.count + Self.sliceBytes)
        while outcome == .opened, !isStopped {
            await Task.yield()
            outcome = proceed(.opened, to: &writer, until: writer.count + Self.sliceBytes)
        }
        return outcome == .written
    }

    /// Writes the values on the stack and everything below them, until the response has `byteCount` bytes.
    ///
    /// - Returns: `.opened` if values are left on the stack; otherwise the outcome of the outermost value.
    private mutating func proceed(
        _ outcome: Outcome, to writer: inout ResponseWriter, until byteCount: Int
    ) -> Outcome {
        var outcome = outcome
        while !isStopped, let innermost = stack.indices.last {
            if outcome == .opened {
                if writer.count >= byteCount { return .opened }
                outcome = resume(stack[innermost], to: &writer)
                if outcome != .opened { stack.removeLast() }
                continue
            }
            // The value at the position of this entry is complete or null.
            path.removeLast()
            if outcome == .null, propagates, stack[innermost].isNonNull {
                stack.removeLast()
                continue
            }
            if outcome == .null {
                rewind(&writer, to: stack[innermost].valueStart)
                writer.writeNull()
            }
            stack[innermost].position += 1
            outcome = .opened
        }
        return outcome
    }

    private mutating func resume(_ container: OpenContainer, to writer: inout ResponseWriter)
        -> Outcome
    {
        switch container.content {
        case .object(let frame, let object):
            writeFields(
                of: object, frame, frame.selection.outputs, from: container.position, to: &writer)
        case .part(let frame, let object, let part):
            writeFields(of: object, frame, part.outputs, from: container.position, to: &writer)
        case .list(let loaded, let field, let start, let count, let depth):
            writeItems(
                start, count, depth: depth, loaded, field, from: container.position, to: &writer)
        }
    }

    /// Stores the position of the enclosing entry before its value, which was just pushed, is
    /// written.
    private mutating func suspend(at position: Int, _ valueStart: Int) -> Outcome {
        // The last entry is the one of the value itself.
        let innermost = stack.count - 2
        stack[innermost].position = position
        stack[innermost].valueStart = valueStart
        return .opened
    }

    /// Writes an object immediately if none of its fields is loaded. Pushes any other object on the
    /// stack.
    @inline(__always)  // called for each object
    private mutating func open(
        _ object: Int, of frame: Frame, to writer: inout ResponseWriter
    ) -> Outcome {
        if frame.selection.hasDeferral, let deferral,
            !deferral.record(object, of: frame, at: path, writer.count, depth: stack.count),
            !frame.selection.whole.outputs.isEmpty
        {
            stack.append(
                OpenContainer(content: .part(frame, object, frame.selection.whole)))
            return .opened
        }
        if frame.selection.outputs.isEmpty {
            writer.append("{}")
            return .written
        }
        if frame.selection.loaded.isEmpty {
            return writeFields(
                of: object, frame, frame.selection.outputs, from: 0, to: &writer)
        }
        stack.append(OpenContainer(content: .object(frame, object)))
        return .opened
    }

    private mutating func writeFields(
        of object: Int, _ frame: Frame, _ outputs: [FieldOutput], from first: Int,
        to writer: inout ResponseWriter
    ) -> Outcome {
        let selection = frame.selection
        let batch = frame.batch
        for index in first..<outputs.count {
            if mustStop(at: writer.count) { return .null }
            let output = outputs[index]
            let position = output.position
            writer.append(selection.keys, output.key)
            let start = writer.count
            switch output.source {
            case .batch:
                let result = batch.write(field: position, of: object, to: &writer)
                if case .value = result, writer.count > start { continue }
                if case .null = result, !output.mustHaveValue {
                    writer.rewind(to: start)
                    writer.writeNull()
                    continue
                }
                reportLeaf(result, selection.fields[position])
            case .typename:
                writer.write(selection.type.name)
                continue
            case .loaded:
                switch write(loadedAt: position, object, frame, to: &writer) {
                case .written: continue
                case .opened: return suspend(at: index, start)
                case .null: break
                }
            }
            if output.isNonNull, propagates { return .null }
            rewind(&writer, to: start)
            writer.writeNull()
        }
        writer.append(UInt8(ascii: "}"))
        return .written
    }

    private mutating func write(
        loadedAt position: Int, _ object: Int, _ frame: Frame, to writer: inout ResponseWriter
    ) -> Outcome {
        // Every loaded field of an existing object has been loaded, unless it is delivered later.
        guard let loaded = frame.loaded[position] else {
            if missing == nil { missing = MissingField(frame: frame, position: position) }
            if stopsAtMissingField { isStopped = true }
            return .null
        }
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
            if mustStop(at: writer.count) { return .null }
            if index > 0 { writer.append(UInt8(ascii: ",")) }
            let itemStart = writer.count
            path.append(.index(index))
            let outcome = write(
                loaded.slots[start + index], depth: depth + 1, loaded, field, to: &writer)
            if outcome == .opened { return suspend(at: index, itemStart) }
            path.removeLast()
            if outcome == .null {
                if propagates, field.completion.isNonNull(at: depth + 1) { return .null }
                rewind(&writer, to: itemStart)
                writer.writeNull()
            }
        }
        writer.append(UInt8(ascii: "]"))
        return .written
    }

    /// Writes the value of a slot. If the result is `.null`, the caller checks whether null is
    /// allowed.
    private mutating func write(
        _ slot: Slot, depth: Int, _ loaded: LoadedField, _ field: PlannedField,
        to writer: inout ResponseWriter
    ) -> Outcome {
        switch slot {
        case .null:
            reportNull(field, depth: depth)
            return .null
        case .error(let index):
            report(loaded.errors[Int(index)], field)
            return .null
        case .object(let group, let index):
            switch loaded.groups[Int(group)] {
            case .objects(let frame):
                return open(Int(index), of: frame, to: &writer)
            case .leaves(let batch):
                let start = writer.count
                let result = batch.write(field: 0, of: Int(index), to: &writer)
                if case .value = result, writer.count > start { return .written }
                report(result, field, depth: depth)
                return .null
            }
        case .list(let start, let count):
            var initialCount = Int(count)
            if depth == 0, let listed = loaded.initialCount, let deferral, listed < Int(count) {
                let stream = ListStream(
                    field, loaded, start: Int(start), count: Int(count), from: listed, at: path)
                if deferral.record(stream, writer.count) { initialCount = listed }
            }
            writer.append(UInt8(ascii: "["))
            stack.append(
                OpenContainer(
                    content: .list(
                        loaded, field, start: Int(start), count: initialCount, depth: depth)))
            return .opened
        }
    }
}
