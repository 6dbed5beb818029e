/// Loads and writes the deferred parts and streamed lists of one response.
///
/// `DeliveryForest` decides what is pending and what is delivered with which. `next` repeats these steps until there is
/// something to deliver:
///
/// 1. Write the pending parts and list items that are loaded, and the parts that become pending by that.
/// 2. If there are none, start the loads of everything that is pending, level by level. Calls to other services run in the
///    background.
/// 3. If there are none either, wait for one of these calls, or run one that uses the context, and load everything below it.
///
/// All loads of a step share their round trips to the database, and a call to another service delays neither what the
/// database provides nor the results of other calls. If the task is cancelled, everything that is pending fails.
final class IncrementalDelivery {
    private let execution: Execution
    private let format: IncrementalFormat
    private let errorsMax: Int
    private let responseBytesMax: Int
    private var errorsLeft: Int
    private var bytesLeft: Int
    /// The number of fragments, parts, and lists that can still be found.
    private var deferralsLeft = DeferralRecorder.operationCountMax
    /// The error with which everything that is pending fails, because the responses together exceed a limit.
    private var refusal: GraphQLError?
    private let forest = DeliveryForest()
    /// The fields to load because their `@defer` or `@stream` is ignored beyond the limit.
    private var undeferredFields: [(frame: Frame, field: Int)] = []

    /// The number of bytes that were written since other tasks had their turn.
    private var sliceByteCount = 0

    /// The size of list items after which no more are added to a response.
    private static let itemBytesMax = 64 << 10

    init(
        _ execution: Execution, format: IncrementalFormat, errorsMax: Int, responseBytesMax: Int
    ) {
        self.execution = execution
        self.format = format
        self.errorsMax = errorsMax
        self.responseBytesMax = responseBytesMax
        bytesLeft = responseBytesMax
        errorsLeft = errorsMax
    }

    /// Returns the first response with its announcements; nil if it is too large.
    func start(_ result: ExecutionResult, _ recorder: DeferralRecorder) -> ExecutionResult? {
        var payload = IncrementalPayload()
        forest.add(recorder.entries, &payload)
        payload.hasNext = forest.pendingCount > 0
        let bytesMax = bytesLeft - result.body.count
        let members = payload.membersOfFirstResponse(in: format, bytesMax: bytesMax)
        if members.count > bytesMax { return nil }
        bytesLeft = bytesMax - members.count
        deferralsLeft -= recorder.count
        errorsLeft = max(0, errorsLeft - result.errors.count)
        return ExecutionResult(result, appending: members)
    }

    /// Returns the next response; nil after the last one.
    func next() async -> ExecutionResult? {
        while forest.pendingCount > 0 {
            let announcedCount = forest.announcedCount
            var payload = IncrementalPayload()
            if Task.isCancelled {
                fail(with: execution.context.cancellationError, &payload)
                return response(payload, announcedCount: announcedCount)
            }
            if execution.context.hasLoadedTooMuch {
                refusal = tooLarge
            } else {
                await writeParts(&payload)
                await writeItems(&payload)
            }
            if let refusal { return refuse(payload, with: refusal, announcedCount: announcedCount) }
            if execution.errorBehavior == .halt, let error = payload.errors.first {
                forest.failAll(with: error, &payload)
            }
            guard payload.isEmpty else {
                return response(payload, announcedCount: announcedCount)
            }
            let fields = fieldsToLoad()
            if !fields.isEmpty {
                await execution.run(fields)
            } else if !(await execution.runNextCall()), !Task.isCancelled {
                // A defect of the engine: everything that is pending has been loaded, so it could be written.
                assertionFailure("a pending part has no load")
                fail(with: .internalError, &payload)
                return response(payload, announcedCount: announcedCount)
            }
        }
        return nil
    }

    /// Ends everything that is pending with an error.
    private func fail(with error: FieldError, _ payload: inout IncrementalPayload) {
        let error = GraphQLError(error.message, kind: error.kind, extensions: error.extensions)
        forest.failAll(with: error.coded(by: execution.plan.errorCodes), &payload)
    }

    /// Returns a response, or its refusal if it is too large.
    private func response(
        _ payload: IncrementalPayload, announcedCount: Int
    ) -> ExecutionResult {
        var payload = payload
        payload.hasNext = forest.pendingCount > 0
        // The contents were subtracted from `bytesLeft` when they were written.
        let bytesMax = bytesLeft + payload.contentByteCount
        let body = payload.response(in: format, bytesMax: bytesMax)
        if body.count > bytesMax {
            return refuse(payload, with: tooLarge, announcedCount: announcedCount)
        }
        bytesLeft = bytesMax - body.count
        return ExecutionResult(update: body, errors: payload.errors)
    }

    private var tooLarge: GraphQLError {
        GraphQLError.responseTooLarge(bytesMax: responseBytesMax)
            .coded(by: execution.plan.errorCodes)
    }

    /// Returns the last response in place of one that exceeds a limit: everything that the client waits for fails.
    ///
    /// - Parameter announcedCount: the number of fragments and lists that the client knows of.
    private func refuse(
        _ payload: IncrementalPayload, with error: GraphQLError, announcedCount: Int
    ) -> ExecutionResult {
        var payload = payload
        // The client never gets the items of `payload`.
        for entry in payload.incremental {
            if case .items(_, let first) = entry.content {
                (entry.owner as? ListStream)?.next = first
            }
        }
        forest.failAll(with: error, &payload)
        var refusal = IncrementalPayload()
        refusal.completed = payload.completed.map(\.delivery)
            .filter { ($0.id ?? 0) < announcedCount }
            .map { ($0, [error]) }
        return ExecutionResult(
            update: refusal.response(in: format, bytesMax: .max), errors: refusal.errors)
    }

    // MARK: - Loading

    /// Returns the fields of pending parts and lists whose loads have not been started.
    private func fieldsToLoad() -> [(frame: Frame, field: Int)] {
        var fields = undeferredFields
        undeferredFields = []
        for part in forest.pendingParts() {
            for field in part.part.loaded where part.frame.startedFields.insert(field).inserted {
                fields.append((part.frame, field))
            }
        }
        for list in forest.pendingLists() {
            for case .objects(let frame) in list.loaded.groups where frame.isPostponed {
                frame.isPostponed = false
                guard frame.batch.count > 0 else { continue }
                fields += frame.selection.loaded.map { (frame, $0) }
            }
        }
        return fields
    }

    // MARK: - Writing

    private func completion(
        at path: [GraphQLError.PathElement], _ recorder: DeferralRecorder
    ) -> ResponseCompletion {
        var completion = ResponseCompletion(
            plan: execution.plan, context: execution.context, onError: execution.errorBehavior,
            errorsMax: errorsMax, responseBytesMax: max(0, bytesLeft))
        completion.errorsLeft = errorsLeft(after: 0)
        completion.path = path
        completion.deferral = recorder
        completion.stopsAtMissingField = true
        return completion
    }

    /// The maximum number of errors of a part or an item: it needs one to fail. Nothing fails with `ErrorBehavior.null`.
    ///
    /// - Parameter count: the number of errors before it in the same response.
    private func errorsLeft(after count: Int) -> Int {
        execution.errorBehavior == .null ? errorsLeft : max(errorsLeft, count + 1)
    }

    /// Writes the pending parts that are loaded, and those that become pending by that.
    private func writeParts(_ payload: inout IncrementalPayload) async {
        var hasProgress = true
        while hasProgress {
            hasProgress = false
            for part in forest.pendingParts() {
                // Another part can have ended its fragments.
                if part.isPending, refusal == nil, await write(part, &payload) {
                    hasProgress = true
                }
            }
        }
    }

    /// Writes a part.
    ///
    /// - Returns: false if it has not been loaded yet, or is too large.
    private func write(
        _ part: DeferredObjectPart, _ payload: inout IncrementalPayload
    ) async -> Bool {
        // Do not write the other fields of a part again and again.
        guard part.missing?.isLoaded != false,
            part.part.loaded.allSatisfy({ part.frame.loaded[$0] != nil })
        else { return false }
        let recorder = DeferralRecorder(in: part.scope, countMax: deferralsLeft)
        var completion = completion(at: part.path, recorder)
        var writer = ResponseWriter(capacity: 256)
        let isObject = await completion.write(
            part.part, of: part.object, part.frame, to: &writer)
        await yield(after: writer.count)
        refusal = completion.refusal
        undeferredFields += recorder.takeFieldsToLoad()
        part.missing = completion.missing
        if refusal != nil || part.missing != nil { return false }
        guard isObject, !completion.isHalted else {
            errorsLeft = max(0, errorsLeft - completion.errors.count)
            forest.fail(
                part,
                with: completion.errors + completion.omitted(completion.omittedErrorCount),
                &payload)
            return true
        }
        let shown = Array(completion.errors.prefix(errorsLeft))
        let omittedCount =
            completion.omittedErrorCount + completion.errors.count - shown.count
        errorsLeft -= shown.count
        let errors = shown + completion.omitted(omittedCount)
        bytesLeft -= writer.count
        deferralsLeft -= recorder.count
        forest.finish(part, writer.bytes, errors, found: recorder.entries, &payload)
        return true
    }

    /// Writes items of the pending lists up to the limit of one response.
    private func writeItems(_ payload: inout IncrementalPayload) async {
        var byteCount = 0
        for list in forest.pendingLists() where byteCount < Self.itemBytesMax && refusal == nil {
            byteCount += await writeItems(
                of: list, bytesMax: Self.itemBytesMax - byteCount, &payload)
        }
    }

    /// Gives other tasks of the executor their turn if much was written since the last time.
    private func yield(after byteCount: Int) async {
        sliceByteCount += byteCount
        guard sliceByteCount > ResponseCompletion.sliceBytes else { return }
        sliceByteCount = 0
        await Task.yield()
    }

    /// Writes the next items of a list.
    ///
    /// - Returns: the number of bytes; 0 if the items have not been loaded yet, or are too large.
    private func writeItems(
        of list: ListStream, bytesMax: Int, _ payload: inout IncrementalPayload
    ) async -> Int {
        guard list.missing?.isLoaded != false else { return 0 }
        let recorder = DeferralRecorder(countMax: deferralsLeft)
        var completion = completion(at: list.path, recorder)
        var writer = ResponseWriter(capacity: 256)
        writer.append(UInt8(ascii: "["))
        let first = list.next
        var next = first
        var failure: [GraphQLError]?
        var (itemErrorCount, itemOmittedCount) = (0, 0)
        while next < list.count, failure == nil, writer.count < bytesMax {
            let start = writer.count
            if next > first { writer.append(UInt8(ascii: ",")) }
            // An item that must not be null, but is, ends the list with its errors, even if there are too many already.
            completion.errorsLeft = errorsLeft(after: completion.errors.count)
            let isValid = await completion.writeItem(next, of: list, to: &writer)
            refusal = completion.refusal
            undeferredFields += recorder.takeFieldsToLoad()
            list.missing = completion.missing
            if refusal != nil || list.missing != nil { return 0 }
            if isValid {
                next += 1
                if completion.errors.count > errorsLeft {
                    completion.errors.removeLast()
                    completion.omittedErrorCount += 1
                }
                itemErrorCount = completion.errors.count
                itemOmittedCount = completion.omittedErrorCount
            } else {
                failure =
                    completion.errors.dropFirst(itemErrorCount)
                    + completion.omitted(completion.omittedErrorCount - itemOmittedCount)
                writer.rewind(to: start)
                recorder.rewind(to: start)
            }
        }
        writer.append(UInt8(ascii: "]"))
        errorsLeft = max(0, errorsLeft - completion.errors.count)
        bytesLeft -= writer.count
        deferralsLeft -= recorder.count
        list.next = next
        if next > first {
            payload.incremental.append(
                .init(
                    owner: list, subPath: [], content: .items(writer.bytes, first: first),
                    errors: completion.errors.prefix(itemErrorCount)
                        + completion.omitted(itemOmittedCount)))
        }
        if let failure {
            forest.end(list, failedWith: failure, &payload)
        } else if next == list.count {
            forest.end(list, &payload)
        }
        forest.add(recorder.entries, &payload)
        return writer.count
    }
}
