import GraphQL
import Testing

/// Executes random operations with `@defer` and `@stream`. A client that merges the responses must get the same data as
/// from a single response.
@Suite struct IncrementalMergeTests {
    private static let sdl = """
        type Query { node: Node! nodes: [Node!]! named: Named things: [Thing] }
        interface Named { name: String node: Node }
        type Node implements Named { id: Int! name: String node: Node nodes: [Node!] other: Other sure: Node! }
        type Other implements Named { name: String node: Node flag: Boolean }
        union Thing = Node | Other
        """

    @Test(arguments: 0..<40)
    func mergedResponsesAreTheSingleResponse(seed: Int) async throws {
        let schema = try buildSchema(Source(Self.sdl), hasIncrementalDelivery: true)
        var random = RandomOperation(seed: UInt64(seed))
        let source = random.document()
        let root = random.root(hasErrors: false)
        for loading in JSONDataSource.Loading.allCases {
            let plain = try json(
                try await respond(to: source, root: root, schema: schema, loading: loading))
            try #require(plain["errors"] == nil, "\(plain) \(source)")
            let found = try await incrementalResponses(
                to: source, root: root, schema: schema, loading: loading)
            let merged = try MergedResponse(found)
            #expect(merged.errors.isEmpty)
            #expect(merged.data.sorted == plain["data"]?.sorted, "\(loading) \(source) \(root)")
        }
    }

    /// With errors, a fragment fails where a single response has null further up. The protocol still holds.
    @Test(arguments: 1_000..<1_040)
    func responsesFollowTheProtocolInCaseOfErrors(seed: Int) async throws {
        let schema = try buildSchema(Source(Self.sdl), hasIncrementalDelivery: true)
        var random = RandomOperation(seed: UInt64(seed))
        let source = random.document()
        let root = random.root(hasErrors: true)
        for loading in JSONDataSource.Loading.allCases {
            let plain = try json(
                try await respond(to: source, root: root, schema: schema, loading: loading))
            let found = try await incrementalResponses(
                to: source, root: root, schema: schema, loading: loading)
            let merged = try MergedResponse(found)
            #expect(
                merged.errors.isEmpty == (plain["errors"] == nil), "\(loading) \(source) \(root)")
        }
    }
}

/// Creates operations and data from a seed.
private struct RandomOperation {
    private var state: UInt64
    private var fragmentCount = 0
    private var labelCount = 0
    private var listCount = 0

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    /// The generator SplitMix64.
    private mutating func next(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((word ^ (word >> 31)) % UInt64(bound))
    }

    mutating func document() -> String {
        fragmentCount = 3
        // A fragment spreads only later ones, so that there are no cycles.
        var text = "{ \(selections(of: "Query", depth: 4, fragmentsFrom: 0)) }"
        for index in 0..<fragmentCount {
            text +=
                " fragment F\(index) on Node { \(selections(of: "Node", depth: 2, fragmentsFrom: index + 1)) }"
        }
        // All fragments are used.
        return text.replacing(
            "{ ",
            with:
                "{ node { id \((0..<fragmentCount).map { "...F\($0)\(deferral())" }.joined(separator: " ")) } ",
            maxReplacements: 1)
    }

    private mutating func deferral() -> String {
        if next(2) == 0 { return "" }
        labelCount += 1
        return next(2) == 0 ? " @defer" : #" @defer(label: "l\#(labelCount)")"#
    }

    private mutating func selections(of type: String, depth: Int, fragmentsFrom first: Int)
        -> String
    {
        var parts = [type == "Query" ? "__typename" : type == "Thing" ? "__typename" : "name"]
        for _ in 0..<(1 + next(4)) {
            parts.append(selection(of: type, depth: depth, fragmentsFrom: first))
        }
        return parts.joined(separator: " ")
    }

    private mutating func selection(of type: String, depth: Int, fragmentsFrom first: Int) -> String
    {
        let isDeep = depth > 0
        switch next(isDeep ? 10 : 3) {
        case 0...1:
            switch type {
            case "Node": return next(2) == 0 ? "id" : "a: name"
            case "Other": return "flag"
            default: return "__typename"
            }
        case 2:
            guard type == "Node", first < fragmentCount else { return "__typename" }
            return "...F\(first + next(fragmentCount - first))\(deferral())"
        case 3...5:
            let condition: String
            switch type {
            case "Named", "Thing": condition = next(2) == 0 ? "Node" : "Other"
            default: condition = type
            }
            let inner = selections(of: condition, depth: depth - 1, fragmentsFrom: first)
            return "... on \(condition)\(deferral()) { \(inner) }"
        case 6...7:
            guard type == "Node" || type == "Query" else { fallthrough }
            let count = next(3)
            let inner = selections(of: "Node", depth: depth - 1, fragmentsFrom: first)
            if count == 2 { return "nodes { \(inner) }" }
            // Streamed fields cannot be merged, so each has an alias.
            listCount += 1
            return "s\(listCount): nodes @stream(initialCount: \(count)) { \(inner) }"
        default:
            let fields: [(String, String)]
            switch type {
            case "Query": fields = [("node", "Node"), ("named", "Named"), ("things", "Thing")]
            case "Node": fields = [("node", "Node"), ("other", "Other"), ("sure", "Node")]
            case "Thing": return "__typename"
            default: fields = [("node", "Node")]
            }
            let (field, inner) = fields[next(fields.count)]
            return "\(field) { \(selections(of: inner, depth: depth - 1, fragmentsFrom: first)) }"
        }
    }

    /// Returns data that is as deep as any operation.
    mutating func root(hasErrors: Bool) -> String {
        let errors = hasErrors
        let nodes = (0..<3).map { _ in node(depth: 4, errors) }.joined(separator: ",")
        return """
            {"node": \(node(depth: 5, false)), "nodes": [\(nodes)], "named": \(named(depth: 4, errors)),
             "things": [\(named(depth: 3, errors)), null, \(named(depth: 3, errors))]}
            """
    }

    private mutating func named(depth: Int, _ errors: Bool) -> String {
        next(2) == 0 ? node(depth: depth, errors) : other(depth: depth, errors)
    }

    private mutating func other(depth: Int, _ errors: Bool) -> String {
        let inner = depth == 0 ? "null" : node(depth: depth - 1, errors)
        return
            #"{"__typename": "Other", "name": "o\#(next(100))", "flag": true, "node": \#(inner)}"#
    }

    private mutating func node(depth: Int, _ errors: Bool) -> String {
        if errors, next(12) == 0 { return #"{"$error": "failed"}"# }
        let id = errors && next(8) == 0 ? "null" : "\(next(100))"
        if depth == 0 {
            return
                #"{"__typename": "Node", "id": \#(id), "name": "n", "sure": {"__typename": "Node", "id": 0, "sure": {"id": 1, "sure": {"id": 2, "sure": {"id": 3, "sure": {"id": 4, "sure": {"id": 5, "sure": {"id": 6, "sure": {"id": 7}}}}}}}}}"#
        }
        let count = next(3)
        let nodes = (0..<count).map { _ in node(depth: depth - 1, errors) }.joined(separator: ",")
        return """
            {"__typename": "Node", "id": \(id), "name": "n\(next(100))", "node": \(node(depth: depth - 1, errors)),
             "nodes": [\(nodes)], "other": \(other(depth: min(1, depth - 1), errors)), "sure": \(node(depth: depth - 1, errors))}
            """
    }
}
