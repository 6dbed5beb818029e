import Foundation
import GraphQL

// Both sides take the fastest of fifteen samples, so that neighbours on the machine disturb neither.

func nanoseconds(_ text: String) throws -> Double {
    let source = Source(text)
    let rounds = max(1, 5_000_000 / source.bytes.count)
    var best = Duration.seconds(1_000)
    for _ in 0..<15 {
        best = min(
            best,
            try ContinuousClock().measure {
                for _ in 0..<rounds { _ = try parse(source, limits: .trusted) }
            })
    }
    return best / .nanoseconds(1) / Double(rounds)
}

/// The same documents by graphql-js, in the same order.
func nanosecondsOfGraphQLJS() throws -> [Double] {
    let folder = FileManager.default.temporaryDirectory
    let files = try Documents.all.map { name, text in
        let file = folder.appending(path: "benchmark \(name).graphql")
        try text.write(to: file, atomically: true, encoding: .utf8)
        return file.path
    }
    let script = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "graphql-js.cjs")
    let node = Process()
    node.executableURL = URL(filePath: "/usr/bin/env")
    node.arguments = ["NODE_PATH=/usr/share/nodejs", "node", script.path] + files
    let output = Pipe()
    node.standardOutput = output
    try node.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    node.waitUntilExit()
    return text.split(separator: "\n").compactMap { Double($0) }
}

let isAlone = CommandLine.arguments.contains("--alone")
let theirs = isAlone ? [] : try nanosecondsOfGraphQLJS()
for (index, (name, text)) in Documents.all.enumerated() {
    let ours = try nanoseconds(text)
    var line = "parse \(name): \((ours / 10).rounded() / 100) us"
    line += ", \((Double(text.utf8.count) / ours * 1_000).rounded()) MB/s"
    if theirs.indices.contains(index) {
        line += ", graphql-js \((theirs[index] / 10).rounded() / 100) us"
        line += ", ratio \((theirs[index] / ours * 10).rounded() / 10)"
    }
    print(line)
}
