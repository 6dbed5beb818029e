/// Executes a plan breadth first: all objects of a level together, one flush of the context a level.
///
/// There is no task per field and no recursion over data: the loads of a level are started, the
/// context is flushed once, the loads answer, and their objects are the next level. Then the
/// response is written from the objects in one pass.
///
/// - Parameters:
///   - root: what the fields of the root type are asked of.
///   - errorsMax: further execution errors are dropped; the values stay null.
///   - responseBytesMax: a larger response is replaced by the error `RESPONSE_TOO_LARGE`, as soon as it is known to be
///     larger.
/// - Returns: the response's `data` and `errors`.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Executing-Operations
public func execute(
    _ plan: OperationPlan, variables: VariableValues, root: any ObjectBatch = RootBatch(),
    context: any ExecutionContext, errorsMax: Int = 100, responseBytesMax: Int = .max
) async -> ExecutionResult {
    let execution = Execution(plan: plan, variables: variables, context: context)
    execution.frames.append(Frame(plan.root, root))
    switch plan.kind {
    case .query, .subscription:
        await execution.run(plan.root.loaded.map { (execution.frames[0], $0) })
    case .mutation:
        // One after the other, each with everything below it.
        //
        // Spec: https://spec.graphql.org/September2025/#ExecuteSelectionSetSerially()
        for field in plan.root.loaded { await execution.run([(execution.frames[0], field)]) }
    }
    var completion = ResponseCompletion(
        plan: plan, errorsMax: errorsMax, responseBytesMax: responseBytesMax)
    return completion.complete(execution.frames)
}

/// The bytes of a response, with what a caller wants to know of it.
public struct ExecutionResult: Sendable {
    /// The whole response as JSON: `{"errors": …, "data": …}`.
    public let body: [UInt8]
    public let errors: [GraphQLError]
    /// Where the value of `data`, the last member, starts in `body`.
    private let dataStart: Int

    public init(body: [UInt8], errors: [GraphQLError], dataStart: Int = 8) {
        self.body = body
        self.errors = errors
        self.dataStart = dataStart
    }

    /// The value of `data` as JSON.
    public var data: ArraySlice<UInt8> { body[dataStart..<body.count - 1] }
}

/// The one object that the root fields are asked of. It has no values of its own: root fields are loaded.
public final class RootBatch: ObjectBatch {
    public let count = 1
    public init() {}

    public func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
        .null
    }
}

/// The objects at one place of the plan, and what their loaded fields became.
final class Frame {
    let selection: PlannedSelection
    let batch: any ObjectBatch
    /// By position in the selection; nil for leaves that the batch writes itself.
    var loaded: [LoadedField?]

    init(_ selection: PlannedSelection, _ batch: any ObjectBatch) {
        self.selection = selection
        self.batch = batch
        loaded = Array(repeating: nil, count: selection.fields.count)
    }
}

/// A loaded field's slots, and a frame for each group they point into.
struct LoadedField {
    let slots: [Slot]
    let errors: [FieldError]
    let groups: [Group]

    enum Group {
        case objects(Frame)
        case leaves(any ObjectBatch)
    }
}

private final class Execution {
    let plan: OperationPlan
    let variables: VariableValues
    let context: any ExecutionContext
    /// Each before those below it. Freed in this order, none takes another with it, however deep the data is.
    var frames: [Frame] = []

    init(plan: OperationPlan, variables: VariableValues, context: any ExecutionContext) {
        self.plan = plan
        self.variables = variables
        self.context = context
    }

    /// Loads the given fields and everything below them.
    func run(_ fields: [(frame: Frame, field: Int)]) async {
        // A queue: statements go out in the order of the fields.
        var ready = fields
        var waiting: [Waiting] = []
        while true {
            var next = 0
            while next < ready.count {
                let (frame, field) = ready[next]
                next += 1
                switch start(field, of: frame) {
                case .ready(let children):
                    attach(children, to: frame, field, &ready)
                case .afterFlush(let finish):
                    waiting.append(Waiting(frame: frame, field: field, finish: finish))
                case .foreseen(let standIn, let finish):
                    waiting.append(
                        Waiting(
                            frame: frame, field: field, finish: finish,
                            below: startBelow(field, of: frame, standIn)))
                case .call(let call):
                    attach(await call(), to: frame, field, &ready)
                case .needsParents:
                    preconditionFailure("a loader with its parents at hand asks for them")
                }
            }
            if waiting.isEmpty { return }
            ready.removeAll(keepingCapacity: true)
            if context.needsFlush { await context.flush() }
            for load in waiting { finish(load, in: load.frame, &ready) }
            waiting.removeAll(keepingCapacity: true)
        }
    }

    /// A load that answers after the flush, and those below it that were started with a stand-in.
    private struct Waiting {
        let frame: Frame
        let field: Int
        let finish: (_ parents: any ObjectBatch) -> Children
        var below: [Waiting] = []
    }

    /// Starts what can be started below an object that is only foreseen.
    private func startBelow(
        _ position: Int, of frame: Frame, _ standIn: any ObjectBatch
    ) -> [Waiting] {
        let selections = frame.selection.fields[position].selected.selections
        guard selections.count == 1 else { return [] }
        let foreseen = Frame(selections[0], standIn)
        var below: [Waiting] = []
        for field in foreseen.selection.loaded {
            switch start(field, of: foreseen) {
            case .afterFlush(let finish):
                below.append(Waiting(frame: foreseen, field: field, finish: finish))
            case .foreseen(let standIn, let finish):
                below.append(
                    Waiting(
                        frame: foreseen, field: field, finish: finish,
                        below: startBelow(field, of: foreseen, standIn)))
            case .ready, .call, .needsParents:
                // Started when the object is there.
                continue
            }
        }
        return below
    }

    /// Takes a load's answer, and the answers below it where the foreseen object is there.
    private func finish(
        _ load: Waiting, in frame: Frame, _ ready: inout [(frame: Frame, field: Int)]
    ) {
        let started = Set(load.below.map(\.field))
        attach(load.finish(frame.batch), to: frame, load.field, except: started, &ready)
        guard !load.below.isEmpty,
            case .objects(let child)? = frame.loaded[load.field]?.groups.first,
            child.batch.count == 1
        else { return }
        for load in load.below { finish(load, in: child, &ready) }
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
        _ children: Children, to frame: Frame, _ position: Int, except started: Set<Int> = [],
        _ ready: inout [(frame: Frame, field: Int)]
    ) {
        let selected = frame.selection.fields[position].selected
        let selections = selected.selections
        precondition(
            children.slots.count >= frame.batch.count,
            "the loader of \(selected.parentType.name).\(selected.name) gave \(children.slots.count) values "
                + "for \(frame.batch.count) objects")
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
            if group.batch.count > 0 {
                for field in child.selection.loaded where !started.contains(field) {
                    ready.append((child, field))
                }
            }
        }
        frame.loaded[position] = LoadedField(
            slots: children.slots, errors: children.errors, groups: groups)
    }
}
