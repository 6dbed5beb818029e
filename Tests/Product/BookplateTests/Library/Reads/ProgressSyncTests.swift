import GraphQL
import TestBasics
import TestSupport
import Testing

/// Two devices log, change, and delete progress while they are offline, and send it later. Every order in which the requests of
/// the two arrive has the same result.
@Suite struct ProgressSyncTests {
    static let app = Shared { try await TestApp.start() }

    /// A request of a device. The variables contain `READ` for the id of the read.
    private struct Operation {
        let query: String
        let variables: Value
    }

    /// Returns the requests of one device in their order. Some are sent twice, because the response was lost.
    private static func operations(
        of device: Int, shared: [String], _ random: inout SeededGenerator
    ) -> [Operation] {
        var own: [String] = []
        var operations: [Operation] = []
        // Both devices use the same few minutes, so that some changes are made at the same time.
        func time() -> Value {
            .string("2026-01-01T10:0\(Int.random(in: 0...9, using: &random)):00Z")
        }
        func position() -> Value.Member {
            switch Int.random(in: 0...2, using: &random) {
            case 0: .init("page", .int(Int.random(in: 0...200, using: &random)))
            case 1: .init("percent", .float(Double(Int.random(in: 0...100, using: &random))))
            default: .init("seconds", .int(Int.random(in: 0...3600, using: &random)))
            }
        }
        for _ in 0..<12 {
            let known = (own + shared).randomElement(using: &random) ?? ""
            let operation: Operation
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                own.append(id(device, operations.count))
                let entry = Value.object([
                    .init("id", .string(own[own.count - 1])), .init("readId", "READ"),
                    .init("at", time()), position(),
                ])
                operation = Operation(query: ProgressTests.log, variables: ["inputs": [entry]])
            case 4..<8:
                var members: [Value.Member] = [.init("changedAt", time())]
                if Bool.random(using: &random) { members.append(position()) }
                if Bool.random(using: &random) { members.append(.init("at", time())) }
                if Bool.random(using: &random) {
                    let note = Int.random(in: 0...3, using: &random)
                    members.append(.init("note", note == 0 ? .null : .string("Note \(note)")))
                }
                operation = Operation(
                    query: """
                        mutation($id: ID!, $input: UpdateProgressInput!) {
                          updateProgress(id: $id, input: $input) { id }
                        }
                        """, variables: ["id": .string(known), "input": .object(members)])
            default:
                operation = Operation(
                    query: "mutation($id: ID!) { deleteProgress(id: $id) { id } }",
                    variables: ["id": .string(known)])
            }
            operations.append(operation)
            if Int.random(in: 0..<4, using: &random) == 0 { operations.append(operation) }
        }
        return operations
    }

    private static func id(_ device: Int, _ number: Int) -> String {
        "0198c0de-0000-7000-8\(device)00-0000000000\(number < 10 ? "0" : "")\(number)"
    }

    /// Applies the requests of both devices in a random order that keeps the order of each device, and returns the result.
    private static func state(
        after devices: [[Operation]], shared: [String], _ random: inout SeededGenerator
    ) async throws -> Value {
        let reader = try await app().makeReader()
        let (book, read) = try await ProgressTests.makeRead(reader)
        _ = try await reader.execute(
            "mutation($id: ID!) { updateRead(id: $id, input: {lengthSeconds: 3600}) { id } }",
            ["id": read])
        let entries = shared.map { id -> Value in
            ["id": .string(id), "readId": read, "page": 5, "at": "2026-01-01T09:00:00Z"]
        }
        _ = try await reader.execute(ProgressTests.log, ["inputs": .list(entries)])
        var queues = devices.map { $0[...] }
        while queues.contains(where: { !$0.isEmpty }) {
            guard let operation = queues[Int.random(in: 0..<2, using: &random)].popFirst() else {
                continue
            }
            let response = try await reader.execute(
                operation.query, operation.variables.replacing("READ", with: read))
            // The other device may have deleted the entry.
            #expect(response.code == nil || response.code == "NOT_FOUND", "\(response.json)")
        }
        return try await reader.requireValue(
            """
            query($id: ID!) { book(id: $id) { currentPage currentRead {
              progress { id }
              progressEntries(first: 100) { nodes { id at page percent seconds given note } } } } }
            """, ["id": book], "book")
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func everyOrderOfArrivalHasTheSameResult(seed: UInt64) async throws {
        var random = SeededGenerator(seed)
        let shared = (0..<3).map { Self.id(0, $0) }
        let devices = [1, 2].map { Self.operations(of: $0, shared: shared, &random) }
        let first = try await Self.state(after: devices, shared: shared, &random)
        for _ in 0..<4 {
            let other = try await Self.state(after: devices, shared: shared, &random)
            #expect(other == first, "seed \(seed)")
        }
    }
}

extension Value {
    /// Replaces a string in all members and elements.
    fileprivate func replacing(_ text: Value, with value: Value) -> Value {
        switch self {
        case text: value
        case .list(let items): .list(items.map { $0.replacing(text, with: value) })
        case .object(let members):
            .object(members.map { .init($0.name, $0.value.replacing(text, with: value)) })
        default: self
        }
    }
}
