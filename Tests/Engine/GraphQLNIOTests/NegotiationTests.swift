import TestBasics
import Testing

@testable import GraphQLNIO

@Suite struct NegotiationTests {
    @Test(
        arguments: [
            (nil, .graphQL(.json)), ("", .graphQL(.json)),
            ("*/*", .graphQL(.json)), ("application/*", .graphQL(.json)),
            ("application/json", .graphQL(.json)), ("Application/JSON", .graphQL(.json)),
            ("application/json; charset=utf-8", .graphQL(.json)),
            ("application/json;charset=\"UTF-8\"", .graphQL(.json)),
            ("application/json; charset=latin1", nil),
            ("application/graphql-response+json", .graphQL(.graphQLResponse)),
            ("APPLICATION/GraphQL-Response+JSON", .graphQL(.graphQLResponse)),
            (
                "application/graphql-response+json; charset=utf-8, application/json; charset=utf-8",
                .graphQL(.graphQLResponse)
            ),
            ("application/json, application/graphql-response+json", .graphQL(.json)),
            (
                "application/json;q=0.8, application/graphql-response+json",
                .graphQL(.graphQLResponse)
            ),
            ("application/json; q=0.81, application/graphql-response+json;q=0.8", .graphQL(.json)),
            ("application/json;q=0, */*", .graphQL(.graphQLResponse)),
            ("application/json;q=0", nil), ("*/*;q=0", nil), ("application/*;q=0, */*", nil),
            ("text/html", nil), ("text/plain, image/png", nil), ("application/jsonx", nil),
            ("application/json;q=2, text/plain", nil), ("application/json;q=0.1234", nil),
            ("application/json;q=", nil), ("application/json;q=abc, */*;q=0.1", .graphQL(.json)),
            ("nonsense, application/json", .graphQL(.json)),
            ("/, application/json", .graphQL(.json)),
            ("a/b;c=\"d,e\", application/json", .graphQL(.json)),
            ("a/b;c=\"d,application/json", .graphQL(.json)),
            (", ,application/json,", .graphQL(.json)), ("*/json", nil),
            (
                "multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json",
                .graphQL(.graphQLResponse)
            ),
        ] as [(String?, Negotiation.Choice?)])
    func theBestAcceptedTypeIsChosen(accept: String?, expected: Negotiation.Choice?) {
        #expect(Negotiation.choose(accept: accept) == expected)
    }

    @Test(
        arguments: [
            ("text/html", .page), ("text/html,application/xhtml+xml,*/*;q=0.8", .page),
            ("text/html, application/json", .page),
            ("application/json, text/html", .graphQL(.json)),
            ("text/html;q=0.5, application/json", .graphQL(.json)), ("*/*", .graphQL(.json)),
            ("text/*, application/json", .graphQL(.json)), ("text/*", nil), ("text/html;q=0", nil),
        ] as [(String, Negotiation.Choice?)])
    func thePageIsChosenOnlyIfItsTypeIsListed(accept: String, expected: Negotiation.Choice?) {
        #expect(Negotiation.choose(accept: accept, page: true) == expected)
    }

    @Test(arguments: [
        ("application/json", true), ("application/json ; charset=UTF-8", true),
        ("application/json;charset=utf-16", false), ("application/json, text/plain", false),
        ("application/json;charset=utf-8;charset=utf-16", false), ("application/json;x", false),
        ("application/json;x=\"", false), ("application /json", false), ("", false),
    ])
    func singleMediaTypesAreParsed(text: String, isUTF8: Bool) {
        #expect((MediaType.single(text)?.isUTF8 ?? false) == isUTF8)
    }

    @Test func randomHeadersDoNotCrash() {
        var random = SeededGenerator(7)
        let pieces = [
            "application/json", "text/html", "text/event-stream", "multipart/mixed", "*/*", ";",
            "q=", "0.5", ",", " ", "\"", "\\", "=",
            "charset", "/", "é", "\u{0}", "1.000", "*",
        ]
        for _ in 1...20_000 {
            let text = (0..<Int.random(in: 0...12, using: &random))
                .map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            _ = Negotiation.choose(accept: text, page: true)
            let streams = Negotiation.streams(accept: text)
            #expect(!streams.prefersEventStream || streams.events == .eventStream)
            _ = MediaType.single(text)
            #expect(MediaType.list(text).count <= text.utf8.count)
        }
    }
}
