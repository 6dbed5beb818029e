import Basics
import Foundation
import Testing

@testable import Identity

@Suite struct PrimitiveTests {
    @Test func computesKnownHashes() {
        // FIPS 180-2, B.1; RFC 4231, case 2.
        #expect(
            lowercaseHex(sha256("abc".utf8))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            lowercaseHex(sha256([]))
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(
            lowercaseHex(hmacSHA256(key: Array("Jefe".utf8), "what do ya want for nothing?".utf8))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }

    @Test(
        arguments: [
            ([], []), ([1], [1]), ([1, 2], [1]), ([1], [2]), ([], [0]),
        ] as [([UInt8], [UInt8])])
    func comparesBytesForEquality(a: [UInt8], b: [UInt8]) {
        #expect(constantTimeEqual(a, b) == (a == b))
    }

    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"),
        ("fooba", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy"), ("\u{3FF}\u{3FE}?", "z7_Pvj8"),
    ])
    func encodesAndDecodesBase64URL(plain: String, encoded: String) {
        #expect(Base64URL.encode(Array(plain.utf8)) == encoded)
        #expect(Base64URL.decode(encoded.utf8) == Array(plain.utf8))
    }

    @Test func encodesBase64URLOfEveryLength() {
        for count in 0..<100 {
            let bytes = Array((0..<4).flatMap { sha256("\(count) \($0)".utf8) }.prefix(count))
            let text = Base64URL.encode(bytes)
            #expect(Base64URL.decode(text.utf8) == bytes)
            let foundation = Data(bytes).base64EncodedString()
                .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            #expect(text == foundation)
        }
    }

    @Test(arguments: [
        "A", "AAAAA", "Zg=", "Zg==", "Zh", "Zm9", "Z m8", "Zm8\n", "Zm+v", "Zm/v", "Zmé",
        "\u{0}AAA",
    ])
    func rejectsInvalidBase64URL(text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }

    @Test(arguments: [
        ("null", JSON.null), (" true ", .bool(true)), ("-0", .integer(0)), ("12", .integer(12)),
        ("9223372036854775807", .integer(.max)),
        ("9223372036854775808", .double(9_223_372_036_854_775_808)),
        ("1.5e1", .double(15)), ("1e400", .double(.infinity)),
        ("\"a\\u00e9\\n\\/\"", .string(Array("aé\n/".utf8))),
        ("\"\\ud83d\\ude00\"", .string(Array("😀".utf8))), ("[ ]", .array([])), ("{ }", .object([])),
        (
            "[1,{\"a\":[]}]",
            .array([.integer(1), .object([.init(name: Array("a".utf8), value: .array([]))])])
        ),
    ])
    func parsesJSON(text: String, expected: JSON) {
        #expect(JSON.parse(Array(text.utf8)) == expected)
    }

    @Test(arguments: [
        "", " ", "nul", "True", "01", "1.", ".5", "+1", "1e", "1e+", "-", "\"", "\"\\x\"",
        "\"\\u12\"", "\"\\ud800\"",
        "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"a\nb\"", "[1,]", "[1 2]", "[", "]", "{\"a\"}",
        "{\"a\":}", "{\"a\":1,}",
        "{a:1}", "{\"a\":1 \"b\":2}", "{\"a\":1,\"a\":2}", "1 2", "\u{FEFF}1", "'a'", "NaN",
        "\u{0}", "[1]\u{0}",
        String(repeating: "[", count: 33) + String(repeating: "]", count: 33),
        String(repeating: "[", count: 1 << 20),
        String(repeating: "{\"a\":", count: 1 << 16),
    ])
    func rejectsInvalidJSON(text: String) {
        #expect(JSON.parse(Array(text.utf8)) == nil)
    }

    @Test func rejectsJSONThatIsNotUTF8() {
        for bytes in [
            [0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
        ] as [[UInt8]] {
            #expect(JSON.parse(bytes) == nil)
        }
    }
}
