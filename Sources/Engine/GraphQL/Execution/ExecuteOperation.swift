/// Executes a plan level by level.
///
/// There is no task per field and no recursion over the data. All loads of a level are started, and
/// the context is flushed once, which is one round trip to the database. The loads return their
/// objects after that, and these objects form the next level. At the end, the response is written
/// from the objects in one pass (`ResponseCompletion`). The root fields of a mutation are executed
/// one after the other, each with everything below it. While many loads are started and finished,
/// other tasks of the executor have their turn several times.
///
/// Example: `{ books { title author { name } } }` takes two round trips regardless of the number of
/// books. The first one loads the books, the second one all their authors.
///
/// - Parameters:
///   - plan: a plan for a single response: `plan.isIncremental` is false. With any other plan, the response lacks what is
///     deferred and streamed: use `executeIncrementally`.
///   - variables: the coerced variables, which `CachedDocument.plan` returns with the plan.
///   - context: the state that the loads of this request share.
///   - root: the parent of the root fields: `RootBatch`, or the event of a subscription. If it is not one object, the response
///     is an error.
///   - errorBehavior: what an execution error does to the rest of the response.
///   - errorsMax: the maximum number of execution errors in the response. If there are more, one
///     more error, of the kind `responseTooLarge` and without a path, says how many are left out.
///     With the behavior `null`, that error replaces the response, because its clients find the
///     values that have failed only by the paths of the errors.
///   - responseBytesMax: the maximum size of the response. An error of the kind `responseTooLarge`
///     replaces a larger response, as soon as it is known to be larger, and also the response of a
///     context that has loaded too much.
/// - Returns: the response with `data` and `errors`.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Executing-Operations
public func execute(
    _ plan: OperationPlan, variables: VariableValues, root: any ObjectBatch = RootBatch(),
    context: any ExecutionContext, onError errorBehavior: ErrorBehavior = .propagate,
    errorsMax: Int = 100, responseBytesMax: Int = .max
) async -> ExecutionResult {
    if let error = plan.error(of: root, in: context) { return .failed(error) }
    let execution = Execution(
        plan: plan, variables: variables, context: context, onError: errorBehavior,
        responseBytesMax: responseBytesMax)
    await execution.run(root)
    if context.hasLoadedTooMuch { return .tooLarge(bytesMax: responseBytesMax, plan.errorCodes) }
    var completion = ResponseCompletion(
        plan: plan, context: context, onError: errorBehavior, errorsMax: errorsMax,
        responseBytesMax: responseBytesMax)
    return await completion.complete(execution.frames)
}

/// The parent of the root fields: a batch with one object. It does not write values itself, because
/// all root fields are loaded.
public final class RootBatch: ObjectBatch {
    /// The root is one object.
    public let count = 1
    /// Creates the parent of the root fields.
    public init() {}

    /// Returns null: every root field has a loader.
    public func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
        .null
    }
}

final class Execution {
    let plan: OperationPlan
    let variables: VariableValues
    let context: any ExecutionContext
    let errorBehavior: ErrorBehavior
    private let responseBytesMax: Int
    /// The arguments of a field can take tenths of a millisecond.
    private static let loadsPerTurn = 8
    /// Whether a load has failed that may end the execution. Always false unless errors do that.
    private var hasFailed = false
    /// Whether `run` only collects the calls that use the context, and starts others in the background, so that `runNextCall` gets
    /// their results. True once the first of several responses is complete.
    var postponesCalls = false
    /// The calls that use the context and have not been run.
    private var calls: [(frame: Frame, field: Int, call: () async -> Children)] = []
    private lazy var backgroundCalls = BackgroundCalls()
    /// All frames, each before its descendants. Because they are released in this order, releasing
    /// one never releases a chain of others recursively, regardless of how deep the data is.
    var frames: [Frame] = []

    init(
        plan: OperationPlan, variables: VariableValues, context: any ExecutionContext,
        onError errorBehavior: ErrorBehavior, responseBytesMax: Int
    ) {
        self.plan = plan
        self.variables = variables
        self.context = context
        self.errorBehavior = errorBehavior
        self.responseBytesMax = responseBytesMax
    }

    /// Loads everything that the initial response contains.
    func run(_ root: any ObjectBatch) async {
        let frame = Frame(plan.root, root)
        frames.append(frame)
        switch plan.kind {
        case .query, .subscription:
            await run(plan.root.loaded.map { (frame, $0) })
        case .mutation:
            // Serial execution: each field with everything below it.
            //
            // Spec: https://spec.graphql.org/September2025/#sec-Normal-and-Serial-Execution
            for (index, field) in plan.root.loaded.enumerated() {
                if (index + 1).isMultiple(of: Self.loadsPerTurn) { await Task.yield() }
                await run([(frame, field)])
                // Writing a value can fail, too.
                if errorBehavior == .halt { hasFailed = true }
                if await isHalted(by: field) { return }
            }
        }
    }

    /// Returns whether an error in the response ends the execution.
    ///
    /// A load that has failed is not enough: its error is not part of the response if no object refers to it. Therefore, what
    /// has been loaded is written on trial, without what is delivered after the first response. An error after the maximum
    /// size of what is written on trial does not end the execution.
    ///
    /// - Parameter rootField: The position of the only field that may have an error; nil for all fields.
    private func isHalted(by rootField: Int? = nil) async -> Bool {
        guard hasFailed else { return false }
        hasFailed = false
        var completion = ResponseCompletion(
            plan: plan, context: context, onError: errorBehavior, errorsMax: 1,
            responseBytesMax: responseBytesMax)
        completion.deferral = DeferralRecorder()
        if let rootField {
            await completion.tryField(rootField, of: frames[0])
        } else {
            _ = await completion.complete(frames)
        }
        hasFailed = completion.isHalted
        return hasFailed
    }

    /// Takes the result of a call that has ended in the background, runs a call that was postponed, or waits for one that runs
    /// in the background, and loads everything below it.
    ///
    /// - Returns: false if there is none, or if the task is cancelled.
    func runNextCall() async -> Bool {
        var level = Level()
        if !calls.isEmpty, !backgroundCalls.hasEnded {
            let (frame, field, call) = calls.removeFirst()
            attach(await call(), to: frame, field, &level)
        } else {
            guard let ended = await backgroundCalls.next() else { return false }
            attach(ended.call.finish(), to: ended.frame, ended.field, &level)
        }
        await run(&level)
        return true
    }

    /// The fields and loads of one level.
    private struct Level {
        /// A queue, so that statements are sent in the order of the fields.
        var ready: [(frame: Frame, field: Int)] = []
        /// The second and further steps of loads.
        var steps: [(frame: Frame, field: Int, load: Load)] = []
        /// The loads that need the flush.
        var pending: [PendingLoad] = []
        /// The loads that continue after the flush.
        var unfinished: [(frame: Frame, field: Int, next: (_ parents: any ObjectBatch) -> Load)] =
            []
        /// The requests to other services.
        var concurrent: [(frame: Frame, field: Int, call: ConcurrentCall)] = []

        var isDone: Bool { pending.isEmpty && unfinished.isEmpty && concurrent.isEmpty }
    }

    /// Loads the given fields and everything below them.
    func run(_ fields: [(frame: Frame, field: Int)]) async {
        var level = Level(ready: fields)
        await run(&level)
    }

    /// Loads the fields of a level and everything below them.
    ///
    /// `ready` is the queue of fields of the current level. If the load of a field returns its
    /// children immediately, their fields are added to the same queue. Otherwise, the load is added
    /// to `pending` or `unfinished`, or to `concurrent` if it is a request to another service. When
    /// the queue is empty, the context is flushed while the requests to other services run, the
    /// loads are finished, and the fields of their children form the queue of the next level. The
    /// loop ends when nothing is left to finish.
    private func run(_ level: inout Level) async {
        while true {
            for (frame, field, load) in level.steps {
                guard let call = take(load, of: field, in: frame, &level) else { continue }
                attach(await call(), to: frame, field, &level)
                if await isHalted() { return }
            }
            level.steps.removeAll(keepingCapacity: true)
            var next = 0
            while next < level.ready.count {
                let (frame, field) = level.ready[next]
                next += 1
                if next.isMultiple(of: Self.loadsPerTurn) { await Task.yield() }
                guard let call = take(start(field, of: frame), of: field, in: frame, &level)
                else { continue }
                attach(await call(), to: frame, field, &level)
                if await isHalted() { return }
            }
            if level.isDone { return }
            if await isHalted() { return }
            if level.concurrent.isEmpty {
                if context.needsFlush { await context.flush() }
            } else if level.concurrent.count == 1, !context.needsFlush {
                // Runs in this task, which costs less than another one.
                let call = level.concurrent[0].call
                await withTaskExecutorPreference(call.executor) { await call.run() }
            } else {
                await level.concurrent.map(\.call).run {
                    if context.needsFlush { await context.flush() }
                }
            }
            if context.hasLoadedTooMuch { return }
            var finished = Level()
            for (index, load) in level.pending.enumerated() {
                if (index + 1).isMultiple(of: Self.loadsPerTurn) { await Task.yield() }
                finish(load, in: load.frame, &finished)
            }
            for (frame, field, next) in level.unfinished {
                finished.steps.append((frame, field, next(frame.batch)))
            }
            for (frame, field, call) in level.concurrent {
                attach(call.finish(), to: frame, field, &finished)
            }
            level = finished
            if await isHalted() { return }
        }
    }

    /// Adds a started load to a level.
    ///
    /// - Returns: a call that the caller must run now; nil for all other loads.
    private func take(
        _ load: Load, of field: Int, in frame: Frame, _ level: inout Level
    ) -> (() async -> Children)? {
        switch load {
        case .ready(let children):
            attach(children, to: frame, field, &level)
        case .afterFlush(let finish):
            level.pending.append(PendingLoad(frame: frame, field: field, finish: finish))
        case .afterFlushThen(let next):
            level.unfinished.append((frame, field, next))
        case .speculative(let placeholder, let finish):
            level.pending.append(
                PendingLoad(
                    frame: frame, field: field, finish: finish,
                    nested: startSpeculatively(field, of: frame, placeholder)))
        case .call(let call) where postponesCalls:
            calls.append((frame, field, call))
        case .call(let call):
            return call
        case .concurrent(let call) where postponesCalls:
            backgroundCalls.add(.init(frame: frame, field: field, call: call))
        case .concurrent(let call):
            level.concurrent.append((frame, field, call))
        case .needsParents:
            let defect = LoaderDefect(
                frame.selection.fields[field].selected,
                "returned `.needsParents` for loaded parents")
            attach(
                .failed(frame.batch.count, context.error(for: defect)), to: frame, field, &level)
        }
        return nil
    }

    /// A load that returns its result after the flush, with the nested loads that were started
    /// speculatively.
    private struct PendingLoad {
        let frame: Frame
        let field: Int
        let finish: (_ parents: any ObjectBatch) -> Children
        var nested: [PendingLoad] = []
    }

    /// Starts the loads below an object before the object itself is loaded.
    ///
    /// **Purpose.** Each level normally needs a round trip, because the fields of an object can be
    /// started only when the object is known. A lookup by ID already knows the key of its object,
    /// and the fields below often need nothing else. Such a load returns `.speculative` with a
    /// placeholder: a batch of one object that knows only its key. The loads below are started with
    /// the placeholder as their parent, so their statements are part of the same flush.
    ///
    /// **Invariant.** A placeholder is only used to start loads. It is never written to the
    /// response, and its frame is not added to `frames`. `finish` always receives the loaded
    /// object.
    ///
    /// **Steps.**
    ///
    /// 1. Start each loaded field of the selection with the placeholder. A load that returns
    ///    `.afterFlush` or `.speculative` becomes a nested pending load, and the latter starts its
    ///    own nested loads. A load for which the key is not enough returns `.needsParents` and is
    ///    skipped, as are `.ready`, `.afterFlushThen`, and all calls.
    /// 2. Flush the context. This executes the lookup and the nested statements together.
    /// 3. If the object exists, attach it. Finish the nested loads with it as their parent, and
    ///    queue the fields that were skipped for the next level.
    /// 4. If it does not exist, drop the nested loads with their results.
    ///
    /// **Example.** `{ book(id: 7) { title author { name } reviews(first: 10) { rating } } }`. The
    /// reviews need only the ID of the book, and the author needs a column of its row. The first
    /// flush loads the book and its reviews, the second one the author. Without the placeholder,
    /// the reviews would be part of the second flush.
    ///
    /// Nothing is started if the object can have several types, because its type is not known yet.
    private func startSpeculatively(
        _ position: Int, of frame: Frame, _ placeholder: any ObjectBatch
    ) -> [PendingLoad] {
        let selections = frame.selection.fields[position].selected.selections
        guard selections.count == 1 else { return [] }
        let speculative = Frame(selections[0], placeholder)
        var nested: [PendingLoad] = []
        for field in speculative.selection.loaded {
            switch start(field, of: speculative) {
            case .afterFlush(let finish):
                nested.append(PendingLoad(frame: speculative, field: field, finish: finish))
            case .speculative(let placeholder, let finish):
                nested.append(
                    PendingLoad(
                        frame: speculative, field: field, finish: finish,
                        nested: startSpeculatively(field, of: speculative, placeholder)))
            case .ready, .afterFlushThen, .call, .concurrent, .needsParents:
                // Started after the object has been loaded.
                continue
            }
        }
        return nested
    }

    /// Attaches the result of a load. If its object exists, also finishes the nested loads with
    /// that object as their parent.
    private func finish(_ load: PendingLoad, in frame: Frame, _ level: inout Level) {
        let children = load.finish(frame.batch)
        // The nested loads were started for a single object of the only type.
        guard !load.nested.isEmpty, children.groups.count == 1,
            children.groups[0].batch.count == 1
        else { return attach(children, to: frame, load.field, &level) }
        let started = Set(load.nested.map(\.field))
        attach(children, to: frame, load.field, excluding: started, &level)
        // If the loader has returned something else for a field with one type, it has no groups.
        guard case .objects(let child)? = frame.loaded[load.field]?.groups.first else { return }
        for load in load.nested { finish(load, in: child, &level) }
    }

    private func start(_ position: Int, of frame: Frame) -> Load {
        let field = frame.selection.fields[position]
        let arguments: ArgumentValues
        do throws(FieldError) {
            arguments = try plan.arguments(of: field, variables: variables)
        } catch {
            return .ready(.failed(frame.batch.count, error))
        }
        guard let load = field.load else { return .ready(.null(frame.batch.count)) }
        return load.start(for: frame.batch, arguments: arguments, in: context)
    }

    private func attach(
        _ children: Children, to frame: Frame, _ position: Int, excluding started: Set<Int> = [],
        _ level: inout Level
    ) {
        let field = frame.selection.fields[position]
        let selections = field.selected.selections
        var children = children
        if let defect = children.defect(for: field, parents: frame.batch.count) {
            children = .failed(frame.batch.count, context.error(for: defect))
        }
        var initialCount: Int?
        if let stream = field.stream {
            do throws(FieldError) {
                initialCount = try stream.initialCount(variables)
            } catch {
                children = .failed(frame.batch.count, error)
            }
        }
        var groups: [LoadedField.Group] = []
        groups.reserveCapacity(children.groups.count)
        for group in children.groups {
            if selections.isEmpty {
                groups.append(.leaves(group.batch))
                continue
            }
            let child = Frame(selections[group.selection], group.batch)
            groups.append(.objects(child))
            frames.append(child)
            if initialCount == 0 {
                child.isPostponed = true
            } else if group.batch.count > 0 {
                for field in child.selection.loaded where !started.contains(field) {
                    level.ready.append((child, field))
                }
            }
        }
        if errorBehavior == .halt, !children.errors.isEmpty { hasFailed = true }
        frame.loaded[position] = LoadedField(
            slots: children.slots, errors: children.errors, groups: groups,
            initialCount: initialCount)
    }
}
