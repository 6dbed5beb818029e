import Dispatch
import GraphQL

/// Executes an operation that the bytes of the input choose, on data that they choose, with a single response and with one in
/// several parts. Without errors, both must have the same data. Every response must follow the protocol and its limits.
func fuzzExecution(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var choices = Choices(Array(UnsafeBufferPointer(start: start, count: count)))
    let source = SeededSource(seed: UInt32(choices.next(256)) << 8 | UInt32(choices.next(256)))
    let behavior = ErrorBehavior.allCases[choices.next(3)]
    let bytesMax = choices.next(4) == 0 ? 200 + 8 * choices.next(256) : Int.max
    var operation = Operation(choices)
    operation.query()
    let text = operation.text
    wait {
        guard
            let document = try? await DocumentCache(
                schema: schema, resolvers: source, limits: .trusted
            ).document(Array(text.utf8)),
            let (plan, variables, _) = try? await document.plan(
                operationName: nil, variables: .null),
            let (parts, values, _) = try? await document.plan(
                operationName: nil, variables: .null, isIncremental: true)
        else { return }
        let single = await execute(
            plan, variables: variables, root: source.root(plan.root), context: Context(),
            onError: behavior, responseBytesMax: bytesMax)
        let whole = json(single.body, text)
        guard parts.isIncremental else { return }
        let (first, rest) = await executeIncrementally(
            parts, variables: values, root: source.root(parts.root), context: Context(),
            onError: behavior, responseBytesMax: bytesMax)
        var merged = MergedParts(json(first.body, text), hasRest: rest != nil, text)
        var byteCount = first.body.count
        while let part = try? await rest?.next() {
            merged.add(json(part.body, text))
            if merged.hasNext { byteCount += part.body.count }
        }
        merged.end()
        // The last part may be a refusal, which does not count.
        check(byteCount <= bytesMax || !merged.errors.isEmpty, "the parts are too large", text)
        if bytesMax == .max, merged.errors.isEmpty, whole["errors"] == nil {
            check(
                merged.data.sorted == (whole["data"] ?? .null).sorted,
                "the parts are \(merged.data.sorted), not \((whole["data"] ?? .null).sorted)", text)
        }
    }
    return 0
}

func check(_ isTrue: Bool, _ message: @autoclosure () -> String, _ text: String) {
    if !isTrue { fatalError("\(message()): \(text)") }
}

private func json(_ body: [UInt8], _ text: String) -> Value {
    guard let value = try? parseJSON(body) else {
        fatalError("not JSON: \(String(decoding: body, as: UTF8.self)) of \(text)")
    }
    return value
}

/// Runs asynchronous work, and waits for its end.
private func wait(_ work: @escaping @Sendable () async -> Void) {
    let end = DispatchSemaphore(value: 0)
    Task.detached {
        await work()
        end.signal()
    }
    end.wait()
}

/// The choices that the bytes of an input make.
struct Choices {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    /// Returns a number below `count`; 0 at the end of the input.
    mutating func next(_ count: Int) -> Int { Int(bytes.popFirst() ?? 0) % count }
}

// MARK: - Operations

/// Generates an operation on the schema below.
private struct Operation {
    private var choices: Choices
    private(set) var text = ""
    private var depth = 0

    init(_ choices: Choices) { self.choices = choices }

    mutating func query() { set(of: "Query") }

    private static let fields: [String: [(name: String, type: String?, isList: Bool)]] = [
        "Query": [
            ("text", nil, false), ("node", "Node", false), ("nodes", "Node", true),
            ("sure", "Node", true), ("any", "Any", false), ("all", "Named", true),
        ],
        "Node": [
            ("id", nil, false), ("text", nil, false), ("node", "Node", false),
            ("nodes", "Node", true), ("numbers", nil, false), ("any", "Any", false),
            ("name", nil, false), ("must", "Leaf", false),
        ],
        "Leaf": [("name", nil, false), ("id", nil, false), ("node", "Node", false)],
        "Any": [("__typename", nil, false)],
        "Named": [("name", nil, false)],
    ]

    private mutating func set(of type: String) {
        depth += 1
        text += "{ "
        selection(of: type)
        while choices.next(3) > 0, depth < 8, text.utf8.count < 2_000 { selection(of: type) }
        text += "} "
        depth -= 1
    }

    private mutating func selection(of type: String) {
        switch choices.next(6) {
        case 0 where depth < 8:
            let types: [String?] =
                switch type {
                case "Query": [nil, "Query"]
                case "Any": ["Node", "Leaf"]
                case "Named": ["Node", "Leaf", "Named"]
                default: [nil, type]
                }
            let condition = types[choices.next(types.count)]
            text += "... "
            if let condition { text += "on \(condition) " }
            deferral()
            set(of: condition ?? type)
        default:
            let fields = Self.fields[type] ?? []
            let leaves = depth < 7 ? fields : fields.filter { $0.type == nil }
            let field = leaves[choices.next(leaves.count)]
            if choices.next(5) == 0 { text += "a\(choices.next(4)): " }
            text += field.name + " "
            if choices.next(12) == 0 { text += "@skip(if: \(choices.next(2) == 0)) " }
            if field.isList, choices.next(2) == 0 {
                text += "@stream(initialCount: \(choices.next(4))\(label())) "
            }
            if let type = field.type { set(of: type) }
        }
    }

    private mutating func deferral() {
        guard choices.next(3) > 0 else { return }
        let condition = choices.next(8) == 0 ? "if: false" : "if: true"
        text += "@defer(\(condition)\(label())) "
    }

    private var labelCount = 0

    private mutating func label() -> String {
        guard choices.next(3) == 0 else { return "" }
        labelCount += 1
        return ", label: \"l\(labelCount)\""
    }
}

// MARK: - Data

private let schema: Schema = {
    let sdl = """
        type Query { text: String node: Node nodes: [Node] sure: [Node!]! any: Any all: [Named!] }
        type Node implements Named {
          id: Int! text: String node: Node nodes: [Node!] numbers: [[Int!]] any: Any name: String must: Leaf!
        }
        type Leaf implements Named { name: String id: Int! node: Node }
        union Any = Node | Leaf
        interface Named { name: String }
        """
    do throws(RequestErrors) {
        return try buildSchema(Source(sdl), hasIncrementalDelivery: true)
    } catch {
        fatalError("\(error.errors.map(\.message))")
    }
}()

/// Needs a flush after each load that asks for one.
private final class Context: ExecutionContext {
    private(set) var needsFlush = false
    func requestFlush() { needsFlush = true }
    func flush() async {
        await Task.yield()
        needsFlush = false
    }
}

/// Objects that consist of a number. It determines all values of their fields, and the objects below them.
private final class SeededBatch: ObjectBatch {
    let seeds: [UInt32]
    let selection: PlannedSelection?

    init(_ seeds: [UInt32], _ selection: PlannedSelection?) {
        self.seeds = seeds
        self.selection = selection
    }

    var count: Int { seeds.count }

    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
        guard let selection else { return SeededBatch.write(seeds[object], "Int", to: &writer) }
        let selected = selection.fields[field].selected
        let seed = hash(seeds[object], selected.name)
        if seed % 31 == 0 { return .error(FieldError("failed")) }
        if seed % 7 == 0 { return .null }
        if selected.definition.isList {
            writer.append("[[1,2],null,[]]")
            return .value
        }
        return Self.write(seed, selected.definition.namedType, to: &writer)
    }

    private static func write(
        _ seed: UInt32, _ type: String, to writer: inout ResponseWriter
    ) -> LeafResult {
        if type == "Int" {
            writer.write(Int(seed % 1000))
        } else {
            writer.write(String(repeating: "é", count: Int(seed % 40)))
        }
        return .value
    }
}

/// A hash that is the same in every run.
private func hash(_ seed: UInt32, _ text: String) -> UInt32 {
    text.utf8.reduce(seed ^ 0x811C_9DC5) { ($0 ^ UInt32($1)) &* 0x0100_0193 } &* 0x9E37_79B1 >> 3
}

private struct SeededSource: ResolverSource {
    let seed: UInt32

    func root(_ selection: PlannedSelection) -> SeededBatch { SeededBatch([seed], selection) }

    func resolver(for field: FieldDefinition, of type: TypeDefinition) -> FieldResolver? {
        let isLeaf = schema.type(named: field.namedType)?.isComposite != true
        if isLeaf, type.name != "Query" { return .property }
        return .load(Loader(kind: hash(seed, type.name + field.name) % 7))
    }
}

private struct Loader: FieldLoader {
    /// How the values are provided.
    let kind: UInt32

    func prepare(_ field: SelectedField) -> any PreparedLoad { Prepared(kind: kind, field: field) }

    struct Prepared: PreparedLoad {
        let kind: UInt32
        let field: SelectedField

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues,
            in context: any ExecutionContext
        ) -> Load {
            if parents is Placeholder { return .needsParents }
            let children: (any ObjectBatch) -> Children = { self.children(of: $0) }
            if [1, 2, 5, 6].contains(kind) { (context as? Context)?.requestFlush() }
            switch kind {
            case 0: return .ready(children(parents))
            case 1: return .afterFlush(children)
            case 2: return .afterFlushThen { .ready(children($0)) }
            case 3: return .call { children(parents) }
            case 4:
                return .concurrent(
                    ConcurrentCall {
                        await Task.yield()
                    } finish: {
                        children(parents)
                    })
            case 5
            where parents.count == 1 && field.selections.count == 1 && !field.definition.isList:
                return .speculative(placeholder: Placeholder(), children)
            default:
                return .afterFlushThen { parents in
                    .concurrent(
                        ConcurrentCall {
                            await Task.yield()
                        } finish: {
                            children(parents)
                        })
                }
            }
        }

        private func children(of parents: any ObjectBatch) -> Children {
            guard let parents = parents as? SeededBatch else { return .null(parents.count) }
            var children = Children(slots: [], groups: [], errors: [FieldError("failed")])
            var groups: [[UInt32]] = Array(repeating: [], count: max(1, field.selections.count))
            func value(_ seed: UInt32) -> Slot {
                if seed % 29 == 0 { return .error(0) }
                if seed % 11 == 0 { return .null }
                let group = field.selections.isEmpty ? 0 : Int(seed / 3) % field.selections.count
                groups[group].append(seed)
                return .object(group: Int32(group), index: Int32(groups[group].count - 1))
            }
            var items: [Slot] = []
            for parent in parents.seeds {
                let seed = hash(parent, field.name)
                guard field.definition.isList else {
                    children.slots.append(value(seed))
                    continue
                }
                if seed % 13 == 0 {
                    children.slots.append(.null)
                    continue
                }
                let count = Int(seed / 5) % 5
                children.slots.append(
                    .list(start: Int32(parents.count + items.count), count: Int32(count)))
                for index in 0..<count { items.append(value(hash(seed, "\(index)"))) }
            }
            children.slots += items
            children.groups = groups.enumerated().map { index, seeds in
                Children.Group(
                    SeededBatch(
                        seeds, field.selections.isEmpty ? nil : field.selections[index]),
                    selection: field.selections.isEmpty ? 0 : index)
            }
            return children
        }
    }

    private final class Placeholder: ObjectBatch {
        let count = 1
        func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
            fatalError("a placeholder was written")
        }
    }
}

extension FieldDefinition {
    fileprivate var isList: Bool { "\(type)".hasPrefix("[") }
}
