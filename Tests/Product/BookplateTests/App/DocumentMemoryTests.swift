import CMalloc
import FoundationEssentials
import GraphQL
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// The cache of documents counts about as much memory as it uses, so that its limit is one.
@Suite struct DocumentMemoryTests {
    private static let requests: [String] = {
        let folder = TestCluster.project + "/Tests/Product/Requests"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.sorted().compactMap {
            try? String(contentsOfFile: "\(folder)/\($0)/request.graphql", encoding: .utf8)
        }
    }()

    /// Documents of clients, and those that have large plans for their size.
    static let documents: [(name: String, texts: [String])] = [
        ("requests of the documentation", requests),
        (
            "fields without a loader",
            ["{ me { " + (0..<300).map { "f\($0): id" }.joined(separator: " ") + " } }"]
        ),
        (
            "fields of all types",
            [
                "{ nodes(ids: []) { "
                    + (0..<100).map { "f\($0): id" }.joined(separator: " ") + " } }"
            ]
        ),
        (
            "fields with a loader",
            [
                "{ me { "
                    + (0..<15).map { "f\($0): books(first: 1) { totalCount }" }
                    .joined(separator: " ") + " } }"
            ]
        ),
        ("a long comment", ["{ me { id } } #" + String(repeating: "-", count: 50_000)]),
        ("unknown fields", ["{ " + (0..<200).map { "f\($0)" }.joined(separator: " ") + " }"]),
    ]

    @Test(arguments: documents)
    func theEstimateIsNearTheMemory(name: String, texts: [String]) async throws {
        try #require(!texts.isEmpty)
        let schema = try BookplateSchema(sdl: BookplateSchema.text)
        var limits = RequestLimits.bookplate
        limits.cachedBytesMax = .max
        limits.cachedDocumentsMax = .max
        let cache = DocumentCache(
            schema: schema.schema, resolvers: schema.resolvers, limits: limits, errorCodes: .apollo)
        func add(_ suffix: Int) async {
            for text in texts {
                // Each document is another one for the cache.
                guard
                    let document = try? await cache.document(Array("\(text)\n#\(suffix)".utf8))
                else { continue }
                for case .operation(let operation) in document.document.definitions {
                    _ = try? await document.plan(
                        operationName: operation.name?.value, variables: .null)
                }
            }
        }
        await add(0)
        let (estimate, memory) = (cache.bytes, allocatedBytes())
        var count = 0
        while allocatedBytes() - memory < 16 << 20, count < 5_000 {
            count += 1
            await add(count)
        }
        let ratio = Double(cache.bytes - estimate) / Double(allocatedBytes() - memory)
        #expect(ratio > 0.5 && ratio < 2, "the estimate is \(ratio) of the memory")
        withExtendedLifetime(cache) {}
    }

    private func allocatedBytes() -> Int {
        let blocks = mallinfo2()
        return Int(clamping: blocks.uordblks + blocks.hblkhd)
    }
}
