import Testing

@testable import GraphQL

struct OperationLimitsTests {
    private let schema: Schema

    init() throws {
        schema = try buildSchema(
            try parse(
                Source(
                    """
                    type Query {
                      me: User feed(first: Int = 10, last: Int): Connection! users(first: Int!): [User!]!
                      all: [User!]!
                    }
                    type Connection { edges: [Edge!]! pageInfo: PageInfo! }
                    type Edge { node: User! }
                    type PageInfo { hasNextPage: Boolean! }
                    type User { id: ID! friend: User friends: [User!]! feed(first: Int = 10): Connection! }
                    """)))
    }

    /// Returns the limits that a document exceeds, each with the actual number: `depthMax 4`.
    private func exceeded(_ source: String, _ limits: OperationLimits) throws -> [String] {
        let document = try parse(Source(source), limits: .trusted)
        return checkLimits(document, against: schema, limits: limits).map { error in
            #expect(error.kind == .limitExceeded)
            let number = error.message.split(separator: " ").first { Int($0) != nil } ?? ""
            let limit = error.extensions.first { $0.name == "limit" }?.value.string ?? ""
            return "\(limit) \(number)"
        }
    }

    private func limits(_ change: (inout OperationLimits) -> Void) -> OperationLimits {
        var limits = OperationLimits()
        change(&limits)
        return limits
    }

    @Test(arguments: [
        ("{ me { friend { id } } }", 3),
        ("{ ...A } fragment A on Query { me { ...B } } fragment B on User { friend { id } }", 3),
        ("{ ... { me { ... on User { id } } } }", 2),
        ("{ __schema { types { fields { type { name } } } } }", 1),
    ])
    func countsDepthThroughFragments(source: String, depth: Int) throws {
        #expect(try exceeded(source, limits { $0.depthMax = depth }).isEmpty)
        #expect(
            try exceeded(source, limits { $0.depthMax = depth - 1 }) == ["depthMax \(depth)"])
    }

    @Test func introspectionHasItsOwnDepth() throws {
        let source = "{ __schema { types { fields { type { name } } } } }"
        let found = try exceeded(source, limits { $0.introspectionDepthMax = 3 })
        #expect(found == ["introspectionDepthMax 4"])
    }

    @Test func limitsNestedIntrospectionLists() throws {
        let source = """
            { __schema { types { ...F } } }
            fragment F on __Type { fields { type { fields { type { interfaces { name } } } } } }
            """
        #expect(try exceeded(source, OperationLimits()) == ["introspectionListsMax 3"])
    }

    @Test func standardIntrospectionIsWithinTheDefaults() throws {
        #expect(try exceeded(introspectionQuery, OperationLimits()).isEmpty)
    }

    @Test func countsFieldsOfFragmentsEachTime() throws {
        let source = "{ a: me { ...F } b: me { ...F } } fragment F on User { id friend { id } }"
        #expect(try exceeded(source, limits { $0.fieldsMax = 7 }) == ["fieldsMax 8"])
        #expect(try exceeded(source, limits { $0.aliasesMax = 1 }) == ["aliasesMax 2"])
        #expect(try exceeded(source, limits { $0.rootFieldsMax = 1 }) == ["rootFieldsMax 2"])
    }

    @Test func countsDirectivesEverywhere() throws {
        let source = """
            query ($a: Boolean! @d) @d { me @skip(if: $a) { ...F @d ... @d { id } } }
            fragment F on User @d { id @d @d }
            """
        #expect(try exceeded(source, limits { $0.directivesMax = 7 }) == ["directivesMax 8"])
    }

    @Test func countsDefinitions() throws {
        let source = """
            query A($a: Int, $b: Int) { ...F } query B($a: Int) { ...G }
            fragment F on Query { me { id } } fragment G on Query { me { id } }
            """
        #expect(try exceeded(source, limits { $0.fragmentsMax = 1 }) == ["fragmentsMax 2"])
        #expect(try exceeded(source, limits { $0.variablesMax = 2 }) == ["variablesMax 3"])
    }

    @Test(arguments: [
        ("{ me { id friend { id } } }", 2),
        ("{ users(first: 7) { id } }", 7),
        ("{ users(first: 7) { friend { id } } }", 14),
        // The connection, 20 edges and 20 nodes.
        ("{ feed(first: 20) { edges { node { id } } } }", 41),
        // 5 edges, 5 nodes, each with a connection of 3 edges and 3 nodes.
        ("{ feed(first: 5) { edges { node { feed(first: 3) { edges { node { id } } } } } } }", 46),
        ("{ feed { ...C } } fragment C on Connection { edges { node { id } } }", 21),
        ("{ feed(last: 2) { edges { node { id } } } }", 5),
        ("query ($n: Int = 30) { users(first: $n) { id } }", 30),
        ("query ($n: Int!) { users(first: $n) { id } }", 10),
        ("{ all { id } }", 10),
        ("{ __schema { types { name } } me { id } }", 1),
    ])
    func countsObjects(source: String, cost: Int) throws {
        let assumed = limits {
            $0.costMax = cost - 1
            $0.listSizeAssumed = 10
        }
        #expect(try exceeded(source, assumed) == ["costMax \(cost)"])
        #expect(try exceeded(source, limits { $0.costMax = cost }).isEmpty)
    }

    @Test(arguments: [(["first"], ["costMax 1000"]), (["limit"], []), ([], [])])
    func pageSizesAreTheNamedArguments(names: [String], found: [String]) throws {
        let limits = limits {
            $0.pageSizeArguments = names
            $0.costMax = 999
        }
        #expect(try exceeded("{ users(first: 1000) { id } }", limits) == found)
    }

    @Test func fieldsMayHaveCountsOfTheirOwn() throws {
        let short = limits {
            $0.costMax = 1
            $0.objectCounts = ["Query.all": 2, "Query.users": 2, "Query.me": 3]
        }
        #expect(try exceeded("{ me { id } }", short) == ["costMax 3"])
        #expect(try exceeded("{ all { id } }", short) == ["costMax 2"])
        // The size of a page is what the client requests.
        #expect(try exceeded("{ users(first: 7) { id } }", short) == ["costMax 7"])
    }

    @Test func usesVariableValuesAsPageSizes() async throws {
        let document = try parse(Source("query ($n: Int!) { users(first: $n) { id } }"))
        guard case .operation(let operation)? = document.definitions.first else { return }
        for (size, isWithin) in [(10, true), (11, false)] {
            let variables = try await coerceVariableValues(
                operation.variables, given: .object([.init("n", .int(size))]), schema: schema,
                source: document.source, errorsMax: 1)
            let cost = try? checkCost(
                of: operation, in: document, against: schema, variables: variables,
                limits: limits { $0.costMax = 10 })
            #expect(cost == (isWithin ? size : nil))
        }
    }

    /// Each fragment spreads the next one twice, which makes 2^60 fields, measured in 60 steps.
    @Test func doublingFragmentsAreCountedWithoutExpandingThem() throws {
        let fragments = (0..<60).map {
            "fragment F\($0) on User { a: friend { ...F\($0 + 1) } b: friend { ...F\($0 + 1) } }"
        }
        let source =
            "{ me { ...F0 } } " + fragments.joined(separator: " ") + " fragment F60 on User { id }"
        let found = try exceeded(source, OperationLimits())
        #expect(
            found.map { $0.split(separator: " ")[0] } == [
                "depthMax", "fieldsMax", "aliasesMax", "costMax",
            ])
    }

    @Test func hugePagesDoNotOverflow() throws {
        let page = "users(first: 2147483647) { friends { ...F } }"
        let source =
            "{ \(page) } fragment F on User { "
            + String(repeating: "feed(first: 2147483647) { edges { node { ", count: 6) + "id"
            + String(repeating: " } } }", count: 6) + " }"
        #expect(
            try exceeded(source, limits { $0.depthMax = 99 }) == ["costMax \(Int.max)"])
    }

    @Test func longFragmentChainsDoNotOverflowStack() throws {
        let count = 20_000
        let fragments = (0..<count).map { "fragment F\($0) on User { friend { ...F\($0 + 1) } }" }
        let source =
            "{ me { ...F0 } } " + fragments.joined(separator: " ")
            + " fragment F\(count) on User { id }"
        let found = try exceeded(source, limits { $0.fragmentsMax = .max })
        #expect(found.contains("depthMax \(count + 2)"))
    }

    @Test func ignoresFragmentCycles() throws {
        let source =
            "{ me { ...A } } fragment A on User { friend { ...B } } fragment B on User { ...A }"
        #expect(try exceeded(source, limits { $0.depthMax = 0 }).isEmpty)
        let errors = validate(
            try parse(Source(source)), against: schema, limits: limits { $0.depthMax = 0 })
        #expect(
            errors.map(\.message) == ["Cannot spread fragment \"A\" within itself via \"B\"."])
    }
}
