import Foundation
import GraphQL

/// Runs `graphql-tool batch` with the given stack size for each of its threads.
func runBatch(
    to requests: [Value], stackKilobytes: Int
) throws -> (lines: [String], status: Int32) {
    var writer = ResponseWriter()
    for request in requests {
        writer.write(request)
        writer.append("\n")
    }
    return try runBatch(to: writer.bytes, stackKilobytes: stackKilobytes)
}

/// Runs `graphql-tool batch` with the given input.
func runBatch(
    to bytes: [UInt8], stackKilobytes: Int = 8_192
) throws -> (lines: [String], status: Int32) {
    let folder = FileManager.default.temporaryDirectory.appending(
        path: "graphql-tool-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    // Use files instead of pipes, because a full pipe would block the writer.
    let (input, output) = (folder.appending(path: "input"), folder.appending(path: "output"))
    try Data(bytes).write(to: input)
    try Data().write(to: output)
    let tool = Process()
    tool.executableURL = URL(filePath: "/bin/bash")
    let program = graphQLTool
    // The stack limit of the process also applies to its threads.
    tool.arguments = [
        "-c", "ulimit -s \(stackKilobytes) && exec \"$0\" batch", program.path,
    ]
    tool.standardInput = try FileHandle(forReadingFrom: input)
    tool.standardOutput = try FileHandle(forWritingTo: output)
    try tool.run()
    tool.waitUntilExit()
    let lines = String(decoding: try Data(contentsOf: output), as: UTF8.self)
        .split(separator: "\n").map(String.init)
    return (lines, tool.terminationStatus)
}

/// The release build that `scripts/test` makes (`BOOKPLATE_TEST_PROGRAMS`), or else the debug build beside these tests.
let graphQLTool: URL = {
    if let folder = ProcessInfo.processInfo.environment["BOOKPLATE_TEST_PROGRAMS"], !folder.isEmpty
    {
        return URL(filePath: folder).appending(path: "graphql-tool")
    }
    return URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appending(path: "graphql-tool")
}()
