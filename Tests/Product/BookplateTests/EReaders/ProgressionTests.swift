import Basics
import GraphQL
import Identity
import TestBasics
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// Positions by OPDS Progression.
@Suite struct ProgressionTests {
    static let app = Shared { try await TestApp.start(catalog: []) }

    private func makeEReader() async throws -> EReader {
        try await EReader(try await Self.app().makeReader())
    }

    @Test func laterPositionWins() async throws {
        let thorium = try await makeEReader()
        let book = try await thorium.reader.makeBook(["title": "Dune", "pageCount": 200])
        let unknown = await thorium.progression(of: book)
        #expect(unknown.status == 200 && unknown.isEmpty)
        let body = """
            {"title":"Chapter 1","modified":"2026-01-28T00:24:00.123456Z","device":{"id":"urn:uuid:1","name":"Thorium"},\
            "progression":0.25,"references":["#t=40.274","chapter1.html#par36"]}
            """
        let created = await thorium.put(body, in: book)
        #expect(created.status == 201)
        #expect(created.json == (try parseJSON(Array(body.utf8))))
        // The same document again.
        #expect(await thorium.put(body, in: book).status == 200)
        #expect(await thorium.progression(of: book).json == created.json)
        for (progression, time) in [
            (0.3, "2026-01-28T00:24:00.123456Z"), (0.9, "2026-01-28T02:23:00+02:00"),
        ] {
            let refused = await thorium.put(progression, at: time, in: book)
            #expect(refused.status == 409)
            #expect(
                refused.json["type"] == "https://registry.opds.io/error#progression-date")
        }
        #expect(await thorium.put(0.5, at: "2026-01-28T01:00:00Z", in: book).status == 200)
        #expect(try await thorium.percents(of: book) == [50, 25])
        #expect(try await thorium.state(of: book)["currentPage"] == 100)
    }

    /// Progress that the reader logs in an app is a position like that of a device.
    @Test func newerProgressOfAnAppIsTheLastPosition() async throws {
        let thorium = try await makeEReader()
        let book = try await thorium.reader.makeBook(["title": "Dune", "pageCount": 200])
        _ = await thorium.put(0.2, at: "2026-01-28T00:00:00Z", in: book)
        let read = try await thorium.reader.requireValue(
            "query($id: ID!) { book(id: $id) { currentRead { id } } }", ["id": book], "book",
            "currentRead", "id")
        _ = try await thorium.reader.requireValue(
            """
            mutation($read: ID!) {
              logProgress(inputs: [{readId: $read, page: 80, at: "2026-01-29T00:00:00Z"}]) { entry { id } }
            }
            """, ["read": read], "logProgress", 0, "entry", "id")
        #expect(
            await thorium.progression(of: book).json == [
                "modified": "2026-01-29T00:00:00.000000Z",
                "device": ["id": "http://covers.test", "name": "Bookplate"], "progression": 0.4,
            ])
        #expect(await thorium.put(0.3, at: "2026-01-28T12:00:00Z", in: book).status == 409)
        // KOReader's position is one, too.
        _ = await thorium.push("abc", 0.6, deviceID: "F0E1D2C3B4A5968778695A4B3C2D1E0F")
        try await thorium.linkLast(to: book)
        let document = await thorium.progression(of: book).json
        #expect(document["progression"] == 0.6)
        #expect(
            document["device"] == [
                "id": "urn:uuid:f0e1d2c3-b4a5-9687-7869-5a4b3c2d1e0f", "name": "Kobo_clara",
            ])
    }

    @Test func booksOfOtherReadersDoNotExist() async throws {
        let (thorium, other) = (try await makeEReader(), try await makeEReader())
        let book = try await other.reader.makeBook("Foreign")
        for id in [book, "0198c0de-0000-7000-8000-00000000dead", "x", "../x"] {
            let read = await thorium.progression(of: id)
            #expect(read.status == 404 && read.json["type"] == "about:blank")
            #expect(await thorium.put(0.5, at: "2026-01-28T00:00:00Z", in: id) == read)
        }
        #expect(try await other.state(of: book)["status"] == "WANT_TO_READ")
    }

    @Test func credentialIsATokenInEitherScheme() throws {
        let token = PersonalToken.derive(
            .version7(), of: .version7(), seed: [1], keys: .generate())
        func basic(_ text: String) -> TokenCredential? {
            TokenCredential(authorization: "Basic \(Base64URL.encode(Array(text.utf8)))==")
        }
        #expect(basic("any name:\(token.text)")?.hash == token.hash)
        for text in [token.text, "", ":", "a:b", "a:\(token.text):"] {
            #expect(basic(text) != nil && basic(text)?.hash == nil)
        }
        #expect(TokenCredential(authorization: "Bearer \(token.text)")?.hash == token.hash)
        #expect(TokenCredential(authorization: "bearer  \(token.text)")?.hash == token.hash)
        #expect(TokenCredential(authorization: "Digest x") == nil)
        #expect(TokenCredential(authorization: nil) == nil)
    }

    // MARK: - Documents

    private static let now: UnixSeconds = 1_770_000_000  // 2026-02-02T02:40:00Z

    private func parse(_ body: String) throws -> ProgressionDocument {
        try ProgressionDocument(Array(body.utf8), now: Self.now)
    }

    private static let invalid: [String] = [
        "", "[]", "{", "null", #"{"modified":"2026-01-28T00:00:00Z"}"#,
        body(modified: "2026-01-28"), body(modified: "2026-01-28T00:00:00"),
        body(modified: "2026-02-03T02:40:01Z"), body(modified: "9999-12-31T00:00:00Z"),
        body(modified: "0001-01-01T00:00:00Z"),
        body(progression: "-0.1"), body(progression: "1.1"),
        body(progression: "NaN"), body(progression: "1e999"),
        body(progression: "\"0.5\""), body(progression: "null"),
        body(device: #"{"id":"kobo","name":"K"}"#), body(device: #"{"id":"urn:x"}"#),
        body(device: #"{"id":"urn:x","name":" "}"#),
        body(device: #"{"id":"urn:x y","name":"K"}"#),
        body(device: #"{"id":"urn:x","name":"K\u0000"}"#), body(device: "null"),
        body(more: #","title":7"#), body(more: #","references":"x""#),
        body(more: #","references":[1]"#), body(more: #","title":"a\u0000""#),
    ]

    @Test(arguments: invalid)
    func invalidDocumentsAreRefused(body: String) {
        #expect(throws: ProgressionDocument.Problem.self) { try parse(body) }
    }

    @Test func timesMayHaveMoreDigitsThanMicroseconds() throws {
        let document = try parse(Self.body(modified: "2026-01-28T00:00:00.123456789+01:00"))
        #expect(document.modified == Instant("2026-01-27T23:00:00.123456Z"))
    }

    private static func body(
        modified: String = "2026-01-28T00:00:00Z", progression: String = "0.5",
        device: String = #"{"id":"urn:x","name":"K"}"#, more: String = ""
    ) -> String {
        #"{"modified":"\#(modified)","device":\#(device),"progression":\#(progression)\#(more)}"#
    }

    /// Damaged documents are refused, or have only values that can be stored; reading the result again changes nothing.
    @Test(arguments: 1...4)
    func damagedDocumentsAreHarmless(seed: UInt64) throws {
        var random = SeededGenerator(seed)
        let whole = Array(Self.body(more: #","title":"é\n","references":["a#b",""]"#).utf8)
        for _ in 1...2000 {
            let bytes = damaged(whole, &random)
            guard let document = try? ProgressionDocument(bytes, now: Self.now) else { continue }
            #expect((0...1).contains(document.progression), "seed \(seed)")
            var writer = ResponseWriter()
            writer.write(document.json)
            #expect(
                try ProgressionDocument(writer.bytes, now: Self.now) == document, "seed \(seed)")
        }
    }
}

/// Returns the bytes with up to four random changes.
func damaged(_ whole: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = whole
    for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
        let position = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0...3, using: &random) {
        case 0: bytes[position] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: position)
        case 2: bytes.insert(contentsOf: bytes[position...].prefix(20), at: position)
        default:
            bytes[position] = Array("\",:{}[]0129.e-\\".utf8).randomElement(using: &random) ?? 0
        }
    }
    return bytes
}
