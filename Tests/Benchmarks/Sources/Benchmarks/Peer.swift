import Foundation

/// Another engine that does the same work, in a program of its own in the folder `peers`.
struct Peer {
    let name: String
    /// The command before the path of the program.
    let command: [String]
    let program: String
    /// The environment, unless it is set already.
    var environment: [String: String] = [:]

    static let graphQLJS = Peer(
        name: "graphql-js", command: ["node"], program: "graphql-js.cjs",
        environment: ["NODE_PATH": "/usr/share/nodejs"])

    static let all = [
        graphQLJS,
        Peer(name: "graphql-core", command: ["python3"], program: "graphql-core.py"),
        Peer(
            name: "gqlparser", command: ["go", "run"], program: "gqlparser.go",
            environment: debianGo),
        Peer(
            name: "graph-gophers", command: ["go", "run"], program: "graph-gophers.go",
            environment: debianGo),
    ]

    /// Uses the libraries of Debian's packages.
    private static let debianGo = ["GO111MODULE": "off", "GOPATH": "/usr/share/gocode"]

    /// Runs the program, and returns the nanoseconds by the name of the benchmark. They are empty if it is not installed.
    func nanoseconds() throws -> [String: Double] {
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
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "peers/\(program)")
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command + [path.path, folder.path]
        process.environment = environment.merging(ProcessInfo.processInfo.environment) { $1 }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        if process.terminationStatus != 0 { print("\(name) is not complete") }
        return Dictionary(
            uniqueKeysWithValues: text.split(separator: "\n").compactMap { line in
                guard let blank = line.lastIndex(of: " "),
                    let time = Double(line[blank...].dropFirst())
                else { return nil }
                return (String(line[..<blank]), time)
            })
    }
}
