import TestBasics
import TestSupport
import Testing

@testable import Bookplate

/// Reading the bodies that KOReader sends.
@Suite struct KOReaderPositionTests {
    private static func body(
        document: String = "\"abc\"", percentage: String = "0.5", progress: String = "\"1\"",
        device: String = "\"Kobo\"", more: String = ""
    ) -> String {
        #"{"document":\#(document),"percentage":\#(percentage),"progress":\#(progress),"device":\#(device)\#(more)}"#
    }

    private static func text(_ count: Int) -> String {
        "\"" + String(repeating: "a", count: count) + "\""
    }

    @Test func optionalFieldsMayBeMissing() throws {
        let position = try KOReaderPosition(Array(Self.body(percentage: "1").utf8))
        #expect(position.fraction == 1 && position.deviceID == nil && position.title == nil)
        #expect(
            try KOReaderPosition(Array(Self.body(percentage: "\"0.25\"").utf8)).fraction == 0.25)
    }

    /// Other clients than KOReader send numbers instead of texts.
    @Test(arguments: [
        ("7", "7"), ("3.0", "3"), ("-1", "-1"), ("0.25", "0.25"), ("1e2", "100"),
        ("1e300", "1e+300"),
        ("123456789012345678901234567890", "123456789012345678901234567890"), ("\"3.0\"", "3.0"),
    ])
    func numbersAreTexts(sent: String, stored: String) throws {
        let body = Self.body(progress: sent, device: sent, more: ",\"device_id\":\(sent)")
        let position = try KOReaderPosition(Array(body.utf8))
        #expect(position.progress == stored)
        #expect(position.device == stored)
        #expect(position.deviceID == stored)
    }

    private static let metadata: [(String, String?)] = [
        (#"{"filename":"a.epub"}"#, "a.epub"), (#"{"title":"","filename":"b"}"#, "b"),
        (#"{"title":7}"#, nil), ("7", nil), ("null", nil), (#"{"title":"\u0000T\u0000"}"#, "T"),
    ]

    /// Metadata is optional, so what cannot be used does not stop the synchronization.
    @Test(arguments: metadata)
    func metadataIsUsedIfPossible(metadata: String, title: String?) throws {
        let body = Self.body(more: ",\"metadata\":\(metadata)")
        #expect(try KOReaderPosition(Array(body.utf8)).title == title)
    }

    private static let invalid: [(String, KOReaderPosition.Problem)] = [
        ("", .notJSON), ("{", .notJSON), ("[1]", .notAnObject),
        ("7", .notAnObject), ("{}", .noDocument), (body(document: "\"\""), .noDocument),
        (body(document: "7"), .noDocument), (body(document: "\"a:b\""), .noDocument),
        (body(document: "\"../x\""), .unusableDocument),
        (body(document: "\"ä\""), .unusableDocument),
        (body(document: "\"a\\u0000\""), .unusableDocument),
        (body(document: text(129)), .unusableDocument),
        (body(percentage: "NaN"), .notJSON), (body(percentage: "-1"), .invalidFields),
        (body(percentage: "2"), .invalidFields), (body(percentage: "1e999"), .invalidFields),
        (body(percentage: "\"nan\""), .invalidFields), (body(percentage: "null"), .invalidFields),
        (body(progress: "[7]"), .invalidFields), (body(progress: "\"\""), .invalidFields),
        (body(progress: text(4001)), .invalidFields), (body(device: "\"\""), .invalidFields),
        (body(device: "\"a\\u0000\""), .invalidFields), (body(device: text(201)), .invalidFields),
        (body(more: #","device_id":{}"#), .invalidFields),
        (body(more: #","device_id":true"#), .invalidFields),
        (body(device: "false"), .invalidFields), (body(progress: "null"), .invalidFields),
        (body(progress: String(repeating: "1", count: 4001)), .invalidFields),
        (body(more: #","document":"b""#), .notJSON),
    ]

    @Test(arguments: invalid)
    func invalidBodiesAreRefused(body: String, problem: KOReaderPosition.Problem) {
        #expect(throws: problem) { try KOReaderPosition(Array(body.utf8)) }
    }

    /// Damaged bodies are refused, or have only values that can be stored.
    @Test(arguments: 1...4)
    func damagedBodiesAreHarmless(seed: UInt64) {
        var random = SeededGenerator(seed)
        let whole = Array(
            Self.body(
                more:
                    #","device_id":"F0","metadata":{"title":"é\n","filename":"f","authors":"A\nB"}"#
            ).utf8)
        for _ in 1...2000 {
            guard let position = try? KOReaderPosition(damaged(whole, &random)) else { continue }
            #expect(KOReaderPosition.isDocument(position.document), "seed \(seed)")
            #expect((0...1).contains(position.fraction), "seed \(seed)")
            let texts = [
                position.progress, position.device, position.deviceID, position.title,
                position.author,
            ]
            #expect(texts.allSatisfy { $0?.utf8.contains(0) != true }, "seed \(seed)")
        }
    }
}
