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

/// Runs the benchmarks of graphql-js and returns the nanoseconds by name.
func nanosecondsOfGraphQLJS() throws -> [String: Double] {
    let folder = FileManager.default.temporaryDirectory.appending(
        path: "benchmark-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func write(_ text: String, _ name: String) throws {
        try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
    }
    try write(Documents.schema, "schema.graphql")
    try write(Documents.items, "items.graphql")
    for (name, text) in Documents.all { try write(text, name + ".document") }
    let script = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "graphql-js.cjs")
    let node = Process()
    node.executableURL = URL(filePath: "/usr/bin/env")
    node.arguments = ["NODE_PATH=/usr/share/nodejs", "node", script.path, folder.path]
    let output = Pipe()
    node.standardOutput = output
    try node.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    node.waitUntilExit()
    return Dictionary(
        uniqueKeysWithValues: text.split(separator: "\n").compactMap { line in
            guard let blank = line.lastIndex(of: " "), let time = Double(line[blank...].dropFirst())
            else { return nil }
            return (String(line[..<blank]), time)
        })
}

let theirs = CommandLine.arguments.contains("--alone") ? [:] : try nanosecondsOfGraphQLJS()

/// Measures and prints one benchmark. Arguments on the command line select benchmarks by a part of
/// their name: `Benchmarks --alone "validate introspection"`.
func report(
    _ name: String, bytes: Int? = nil, _ measure: () async throws -> Double
) async rethrows {
    let words = CommandLine.arguments.dropFirst().filter { !$0.hasPrefix("--") }
    guard words.isEmpty || words.contains(where: { name.contains($0) }) else { return }
    let ours = try await measure()
    func microseconds(_ time: Double) -> String { "\((time / 10).rounded() / 100) us" }
    var line = "\(name): \(microseconds(ours))"
    if let bytes { line += ", \((Double(bytes) / ours * 1_000).rounded()) MB/s" }
    if let theirs = theirs[name] {
        line += ", graphql-js \(microseconds(theirs)), \((theirs / ours * 10).rounded() / 10) times"
    }
    print(line)
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
    let operation = operationName(in: text)
    let variables = Value.object([.init("id", .string("1"))])
    func cache() -> DocumentCache {
        DocumentCache(schema: schema, resolvers: ItemResolvers(), limits: .trusted)
    }
    // Only the planning: the document is valid and has no plan yet.
    let valid = try cache().document(source.bytes)
    try await report("plan \(name)") {
        try nanoseconds(bytes: bytes * 2) {
            valid.removeAllPlans()
            _ = try valid.plan(operationName: operation, variables: variables)
        }
    }
    // The cost of the first request with a document: parsing, checking limits, validating, and
    // planning.
    try await report("first request \(name)") {
        try nanoseconds(bytes: bytes * 5) {
            _ = try cache().document(source.bytes).plan(
                operationName: operation, variables: variables)
        }
    }
    // The cost of every further request before its execution: looking up the document and its plan,
    // and coercing the variables.
    let known = cache()
    try await report("known request \(name)") {
        try nanoseconds(bytes: 1_000) {
            _ = try known.document(source.bytes).plan(
                operationName: operation, variables: variables)
        }
    }
}

let cache = DocumentCache(schema: schema, resolvers: ItemResolvers(), limits: RequestLimits())
let (plan, variables, _) = try cache.document(Array(Documents.items.utf8)).plan(
    operationName: nil, variables: .null)
await report("execute items") {
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
if let theirs = theirs["without-JSON items"] {
    print("execute items without JSON, graphql-js alone: \((theirs / 10).rounded() / 100) us")
}
