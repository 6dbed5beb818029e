import TestBasics
import Testing

@testable import GraphQLNIO

@Suite struct QueryStringTests {
    @Test(arguments: [
        ("query=%7Ba%7D", "{a}"), ("query=a+b%2Bc", "a b+c"), ("query=a=b", "a=b"),
        ("&&query=a&", "a"), ("%71uery=a", "a"), ("query=%C3%A9", "é"), ("query", ""),
        ("query=a%00b", "a\u{0}b"), ("other=1", nil), ("", nil),
    ])
    func parametersAreDecoded(text: String, query: String?) throws {
        #expect(try QueryString(text[...])["query"] == query)
    }

    @Test(arguments: [
        "query=%", "query=%7", "query=%7g", "query=%GG", "query=%C3", "query=%ED%A0%80",
        "query=%C0%80", "query=a&query=b", "%zz=a", "query=a&%71uery=b",
    ])
    func ambiguousAndInvalidQueriesAreRefused(text: String) {
        #expect(throws: HTTPProblem.self) { try QueryString(text[...]) }
    }

    @Test func encodedValuesRoundTrip() throws {
        var random = SeededGenerator(11)
        for _ in 1...5_000 {
            let value = String(
                String.UnicodeScalarView(
                    (0..<Int.random(in: 0...8, using: &random)).compactMap { _ in
                        Unicode.Scalar(UInt32.random(in: 0...0x1_0FFF, using: &random))
                    }))
            let encoded = value.utf8.map { byte in
                "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined()
            #expect(try QueryString("a=1&query=\(encoded)")["query"] == value)
        }
    }

    @Test func randomQueriesDoNotCrash() {
        var random = SeededGenerator(13)
        let bytes = Array("%=&+aF0\u{7F}é".utf8)
        for _ in 1...20_000 {
            let text = String(
                decoding: (0..<Int.random(in: 0...12, using: &random))
                    .compactMap { _ in bytes.randomElement(using: &random) }, as: UTF8.self)
            _ = try? QueryString(text[...])
        }
    }
}
