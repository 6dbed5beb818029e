import Foundation
import GraphQL

// Both engines report the fastest of many samples. A sample is so short that it is rarely
// interrupted, so other load on the machine hardly affects the results.

/// Returns the nanoseconds that `work` takes. `bytes` is the number of bytes it processes, which
/// determines the number of repetitions per sample.
func nanoseconds(bytes: Int, _ work: () throws -> Void) rethrows -> Double {
    let rounds = max(1, 100_000 / bytes)
    var best = Duration.seconds(1_000)
    for _ in 0..<300 {
        best = min(
            best,
            try ContinuousClock().measure { for _ in 0..<rounds { try work() } })
    }
    return best / .nanoseconds(1) / Double(rounds)
}

/// The same for asynchronous work.
func nanoseconds(bytes: Int, _ work: () async throws -> Void) async rethrows -> Double {
    let rounds = max(1, 100_000 / bytes)
    var best = Duration.seconds(1_000)
    for _ in 0..<300 {
        best = min(
            best,
            try await ContinuousClock().measure {
                for _ in 0..<rounds { try await work() }
            })
    }
    return best / .nanoseconds(1) / Double(rounds)
}

/// The other engines whose times are compared. By default, that is graphql-js. `--peers` runs all that are installed, and
/// `--alone` none.
let theirs: [(peer: Peer, times: [String: Double])] =
    if CommandLine.arguments.contains("--alone") {
        []
    } else if CommandLine.arguments.contains("--peers") {
        try Peer.all.map { ($0, try $0.nanoseconds()) }
    } else {
        [(Peer.graphQLJS, try Peer.graphQLJS.nanoseconds())]
    }
/// The rows of the table: the name of a benchmark, and the nanoseconds of this engine.
var rows: [(name: String, ours: Double)] = []

func microseconds(_ time: Double) -> String { "\((time / 10).rounded() / 100) us" }

/// Measures and prints one benchmark. Arguments on the command line select benchmarks by a part of
/// their name: `Benchmarks --alone "validate introspection"`.
@MainActor
func report(
    _ name: String, bytes: Int? = nil, _ measure: () async throws -> Double
) async rethrows {
    let words = CommandLine.arguments.dropFirst().filter { !$0.hasPrefix("--") }
    guard words.isEmpty || words.contains(where: { name.contains($0) }) else { return }
    let ours = try await measure()
    var line = "\(name): \(microseconds(ours))"
    if let bytes { line += ", \((Double(bytes) / ours * 1_000).rounded()) MB/s" }
    for (peer, times) in theirs {
        guard let time = times[name] else { continue }
        line += ", \(peer.name) \(microseconds(time)), \((time / ours * 10).rounded() / 10) times"
    }
    print(line)
    rows.append((name, ours))
}

/// Returns the name of the first operation.
func operationName(in text: String) -> String? {
    text.split(separator: "query ").first?.prefix { $0.isLetter || $0.isNumber }.description
}

let schema = try buildSchema(parse(Source(Documents.schema)))
for (name, text) in Documents.all {
    let source = Source(text)
    let bytes = source.bytes.count
    try await report("parse \(name)", bytes: bytes) {
        try nanoseconds(bytes: bytes) { _ = try parse(source, limits: .trusted) }
    }
    let document = try parse(source, limits: .trusted)
    guard validate(document, against: schema).isEmpty else { fatalError("\(name) is not valid") }
    await report("validate \(name)") {
        nanoseconds(bytes: bytes * 5) { _ = validate(document, against: schema) }
    }
    try await report("parse and validate \(name)") {
        try nanoseconds(bytes: bytes * 5) {
            _ = validate(try parse(source, limits: .trusted), against: schema)
        }
    }
    let times = try await planningTimes(of: text, schema)
    await report("plan \(name)") { times.plan }
    await report("first request \(name)") { times.firstRequest }
    await report("known request \(name)") { times.knownRequest }
}

/// Returns nanoseconds: of planning a valid document that has no plan yet; of the first request with a document, which parses it, checks
/// limits, validates, and plans; and of every further request before its execution, which looks up the document and its plan, and
/// coerces the variables.
func planningTimes(
    of text: String, _ schema: Schema
) async throws -> (plan: Double, firstRequest: Double, knownRequest: Double) {
    let source = Source(text)
    let bytes = source.bytes.count
    let operation = operationName(in: text)
    let variables = Value.object([.init("id", .string("1"))])
    func cache() -> DocumentCache {
        DocumentCache(schema: schema, resolvers: ItemResolvers(), limits: .trusted)
    }
    let valid = try await cache().document(source.bytes)
    let plan = try await nanoseconds(bytes: bytes * 2) {
        valid.removeAllPlans()
        _ = try await valid.plan(operationName: operation, variables: variables)
    }
    let firstRequest = try await nanoseconds(bytes: bytes * 5) {
        _ = try await cache().document(source.bytes).plan(
            operationName: operation, variables: variables)
    }
    let known = cache()
    let knownRequest = try await nanoseconds(bytes: 1_000) {
        _ = try await known.document(source.bytes).plan(
            operationName: operation, variables: variables)
    }
    return (plan, firstRequest, knownRequest)
}

/// Returns the nanoseconds of executing the query for all items.
func executeItems(_ schema: Schema, _ resolvers: any ResolverSource) async throws -> Double {
    let cache = DocumentCache(schema: schema, resolvers: resolvers, limits: RequestLimits())
    let (plan, variables, _) = try await cache.document(Array(Documents.items.utf8)).plan(
        operationName: nil, variables: .null)
    var best = Duration.seconds(1_000)
    for _ in 0..<100 {
        best = min(
            best,
            await ContinuousClock().measure {
                _ = await execute(plan, variables: variables, context: NoContext())
            })
    }
    return best / .nanoseconds(1)
}

try await report("execute items") { try await executeItems(schema, ItemResolvers()) }
let closures = try itemsWithClosures()
try await report("execute items with closures") {
    try await executeItems(closures.schema, closures)
}
for (peer, times) in theirs {
    guard let time = times["without-JSON items"] else { continue }
    print("execute items without JSON, \(peer.name) alone: \(microseconds(time))")
}

/// The table of docs/decisions/benchmarks.md.
if theirs.count > 1 {
    print("\n| work | this engine | \(theirs.map(\.peer.name).joined(separator: " | ")) |")
    print("| --- |" + String(repeating: " --- |", count: theirs.count + 1))
    for (name, ours) in rows where theirs.contains(where: { $0.times[name] != nil }) {
        let cells = theirs.map { $0.times[name].map(microseconds) ?? "" }
        print("| \(name) | \(microseconds(ours)) | \(cells.joined(separator: " | ")) |")
    }
}
