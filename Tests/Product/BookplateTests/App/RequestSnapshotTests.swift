import BookSources
import Bookplate
import FoundationEssentials
import Glibc
import GraphQL
import TestSupport
import Testing

/// Executes the requests in `Tests/Product/Requests`, and compares each response and its SQL with the files next to the request.
///
/// `BOOKPLATE_UPDATE_SNAPSHOTS=1` writes the files instead.
@Suite struct RequestSnapshotTests {
    static let root = TestCluster.project + "/Tests/Product/Requests"
    static let names =
        ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).sorted()
    static let updatesFiles = getenv("BOOKPLATE_UPDATE_SNAPSHOTS") != nil

    private static let app = Shared {
        let source = TestSource().source(.openLibrary)
        return try await TestApp.start(
            catalog: TestCatalog.lines(40) + SnapshotReader.catalog,
            coverSources: CoverSources(SourceChain([source])))
    }

    @Test(arguments: names)
    func requestHasTheExpectedResponseAndStatements(name: String) async throws {
        let request = try #require(Self.file(name, "request.graphql"), "\(name) has no request")
        let reader = try await SnapshotReader.make(in: try await Self.app())
        let response = try await reader.execute(
            request, variables: Self.file(name, "variables.json") ?? "{}")
        let roundTrips = try #require(
            response.json["extensions", "explain", "roundTrips"]?.list, "\(response.json)")
        var placeholders = SnapshotPlaceholders(names: reader.names)
        let body = response.json["errors"].map { [Value.Member("errors", $0)] } ?? []
        try Self.check(
            name, "response.json",
            prettyJSON(
                placeholders.replacing(
                    .object([.init("data", response.json["data"] ?? .null)] + body))) + "\n")
        try Self.check(name, "statements.sql", Self.statements(of: roundTrips))
    }

    private static func statements(of roundTrips: [Value]) -> String {
        guard !roundTrips.isEmpty else { return "-- no round trips\n" }
        return roundTrips.enumerated().map { index, roundTrip in
            let statements = roundTrip["statements"]?.list ?? []
            return "-- round trip \(index + 1)\n"
                + statements.map { formatSQL($0.string ?? "") + ";\n" }.joined(separator: "\n")
        }.joined(separator: "\n")
    }

    // MARK: Files

    /// Returns the text of a file of a request; nil if the file does not exist.
    private static func file(_ name: String, _ file: String) -> String? {
        try? String(contentsOfFile: "\(root)/\(name)/\(file)", encoding: .utf8)
    }

    /// Compares a file with its new text, or writes the text.
    private static func check(_ name: String, _ file: String, _ text: String) throws {
        if updatesFiles {
            try text.write(toFile: "\(root)/\(name)/\(file)", atomically: false, encoding: .utf8)
            return
        }
        let expected = Self.file(name, file) ?? ""
        guard text != expected else { return }
        Issue.record(
            """
            Tests/Product/Requests/\(name)/\(file) differs. If the change is intended, write the new text with \
            BOOKPLATE_UPDATE_SNAPSHOTS=1 scripts/test --filter RequestSnapshotTests
            \(lineDifferences(from: expected, to: text))
            """)
    }

    @Test(arguments: names) func folderIsComplete(name: String) throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: "\(Self.root)/\(name)")
        #expect(
            Set(files).subtracting(["variables.json"])
                == ["request.graphql", "response.json", "statements.sql"])
    }

    // MARK: Documentation

    /// Subscriptions and requests with `@defer` have no single response. Uploads and downloads of images have tests of their own.
    private static func hasSnapshot(_ document: Document) -> Bool {
        let text = print(document)
        return !text.hasPrefix("subscription") && !text.contains("image: $image")
            && !text.contains("url: $url") && !text.contains("@defer")
    }

    @Test(
        arguments: DocumentationBlock.all.filter { block in
            block.words == ["graphql"]
        })
    func documentedRequestHasASnapshot(block: DocumentationBlock) throws {
        let document = try parse(Source(block.text))
        guard Self.hasSnapshot(document) else { return }
        let snapshots = try Self.names.compactMap { name in
            try Self.file(name, "request.graphql").map { print(try parse(Source($0))) }
        }
        #expect(
            snapshots.contains(print(document)),
            "\(block): copy this request to a new folder of Tests/Product/Requests")
    }
}
