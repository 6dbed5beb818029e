import GraphQL
import TestSupport
import Testing

/// A reimplementation of the audits of graphql-http, the reference test suite for GraphQL over HTTP, with the same ids.
///
/// Specification: https://graphql.github.io/graphql-over-http/draft/
@Suite struct GraphQLOverHTTPAuditTests {
    enum Level: String { case must = "MUST", should = "SHOULD", may = "MAY" }

    /// A request and the expected response.
    struct Audit: Sendable, CustomTestStringConvertible {
        let id: String
        let level: Level
        var method = "POST"
        var path = "/graphql"
        var body = #"{"query":"{ __typename }"}"#
        var contentType: String? = "application/json"
        var accept: String?
        var status = 200...200
        /// The expected media type of the response; nil to accept any.
        var responseType: String?
        /// Whether the response must have `errors`; nil to accept both.
        var hasErrors: Bool?
        /// Whether the response must have `data`; nil to accept both.
        var hasData: Bool?

        var testDescription: String { "\(id) \(level.rawValue)" }
    }

    private static let server = Shared { try await Installation.ready().startServer() }

    private static let json = "application/json"
    private static let response = "application/graphql-response+json"

    static let mediaTypes = [
        Audit(id: "22EB", level: .should, accept: response, responseType: response),
        Audit(id: "4655", level: .must, accept: json, responseType: json),
        Audit(id: "47DE", level: .should, accept: "*/*", responseType: json),
        Audit(id: "80D8", level: .should, accept: nil, responseType: json),
        Audit(id: "82A3", level: .must, hasData: true),
        Audit(
            id: "BF61", level: .must,
            body: #"{"query":"{ __type(name: \"Run🏃Swim🏊\") { name } }"}"#,
            contentType: "application/json; charset=utf-8"),
        Audit(id: "78D5", level: .must),
    ]

    static let requests = [
        Audit(id: "2C94", level: .must),
        get("5A70", .may, "query=%7B%20__typename%20%7D"),
        get(
            "9C48", .must, "query=mutation%20%7B%20__typename%20%7D", accept: response,
            status: 400...499),
        Audit(id: "9ABE", level: .may, body: "", contentType: nil, status: 400...499),
        Audit(id: "03D4", level: .must),
        Audit(id: "A5BF", level: .may, body: "", status: 400...400),
        Audit(
            id: "423L", level: .may, body: #"{"notquery":"{ __typename }"}"#, accept: response,
            status: 400...400),
        Audit(id: "34A2", level: .should, accept: response),
        Audit(id: "13EE", level: .must, accept: json, hasErrors: false),
        Audit(id: "8161", level: .should, body: named, accept: response),
        Audit(id: "B8B3", level: .must, body: named, accept: json, hasErrors: false),
        Audit(id: "2EA1", level: .should, body: typeByName, accept: response),
        Audit(id: "28B9", level: .must, body: typeByName, accept: json, hasErrors: false),
        get("D6D5", .may, typeByNameInURL, accept: response),
        get("6A70", .may, typeByNameInURL, accept: json, hasErrors: false),
        Audit(id: "428F", level: .should, body: extended, accept: response),
        Audit(id: "1B7A", level: .must, body: extended, accept: json, hasErrors: false),
    ]

    /// Parameters of a wrong type: an object, a number, a Boolean, a list, or a string.
    static let invalidParameters =
        invalid("LKJ", [#"{"obj":"ect"}"#, "0", "false", #"["array"]"#]) { #"{"query":\#($0)}"# }
        + invalid("6C0", [#"{"obj":"ect"}"#, "0", "false", #"["array"]"#]) {
            #"{"operationName":\#($0),"query":"{ __typename }"}"#
        }
        + invalid("476", [#""string""#, "0", "false", #"["array"]"#]) {
            #"{"query":"{ __typename }","variables":\#($0)}"#
        }
        + invalid("58B", [#""string""#, "0", "false", #"["array"]"#]) {
            #"{"query":"{ __typename }","extensions":\#($0)}"#
        }
        + [
            Audit(id: "B6DC", level: .may, body: #"{ "not a JSON"#, status: 400...499),
            Audit(id: "BCF8", level: .may, body: #"{ "not a JSON"#, status: 400...400),
            Audit(id: "8764", level: .may, body: misspelt, status: 400...599),
            Audit(id: "3E3A", level: .may, body: misspelt, status: 400...400),
        ]

    static let nullParameters = ["variables", "operationName", "extensions"].enumerated().flatMap {
        index, parameter in
        let body = #"{"query":"{ __typename }","\#(parameter)":null}"#
        return [
            Audit(
                id: "94B\(index)", level: .should, body: body, accept: response, hasErrors: false),
            Audit(id: "022\(index)", level: .must, body: body, accept: json, hasErrors: false),
        ]
    }

    static let failures = [
        Audit(id: "572B", level: .should, body: unparsable, accept: json),
        Audit(id: "FDE2", level: .should, body: unknownField, accept: json),
        Audit(id: "7B9B", level: .should, body: uncoercible, accept: json),
        Audit(
            id: "865D", level: .should, body: unparsable, accept: response, status: 400...599),
        Audit(
            id: "556A", level: .should, body: unparsable, accept: response, status: 400...400),
        Audit(
            id: "D586", level: .should, body: unparsable, accept: response, status: 400...400,
            hasData: false),
        Audit(
            id: "51FE", level: .should, body: unknownField, accept: response, status: 400...599),
        Audit(
            id: "74FF", level: .should, body: unknownField, accept: response, status: 400...400),
        Audit(
            id: "5E5B", level: .should, body: unknownField, accept: response, status: 400...400,
            hasData: false),
        Audit(
            id: "86EE", level: .should, body: uncoercible, accept: response, status: 400...400),
    ]

    static let all = mediaTypes + requests + invalidParameters + nullParameters + failures

    @Test(arguments: all)
    func passes(audit: Audit) async throws {
        let response = try await Self.server().client.send(
            audit.method, audit.path, body: audit.body,
            headers: ["content-type": audit.contentType, "accept": audit.accept])
        #expect(audit.status.contains(response.status), "\(response.status) \(response.body)")
        let type = response.headers["content-type"] ?? ""
        if let expected = audit.responseType { #expect(type.hasPrefix(expected)) }
        #expect(type.hasSuffix("; charset=utf-8"))
        if let hasErrors = audit.hasErrors {
            #expect((response.json["errors"] != nil) == hasErrors)
        }
        if let hasData = audit.hasData { #expect((response.json["data"] != nil) == hasData) }
    }

    @Test func allAuditsArePresent() {
        #expect(Set(Self.all.map(\.id)).count == 60)
    }

    // MARK: - Bodies

    private static let named =
        #"{"operationName":"Query","query":"query Query { __typename }"}"#
    private static let typeByName =
        #"{"query":"query Type($name: String!) { __type(name: $name) { name } }","#
        + #""variables":{"name":"sometype"}}"#
    private static let typeByNameInURL =
        "query=query%20Type(%24name:%20String!)%20%7B%20__type(name:%20%24name)%20%7B%20name%20%7D%20%7D"
        + "&variables=%7B%22name%22:%22sometype%22%7D"
    private static let extended =
        #"{"query":"{ __typename }","extensions":{"some":"value"}}"#
    private static let misspelt = #"{"qeury":"{ __typename }"}"#
    private static let unparsable = #"{"query":"{"}"#
    private static let unknownField = #"{"query":"{ aFieldThatIsNotThere }"}"#
    private static let uncoercible =
        #"{"query":"query CoerceFailure($name: String!) { __type(name: $name) { name } }","#
        + #""variables":{"name":null}}"#

    private static func get(
        _ id: String, _ level: Level, _ query: String, accept: String? = nil,
        status: ClosedRange<Int> = 200...200, hasErrors: Bool? = nil
    ) -> Audit {
        Audit(
            id: id, level: level, method: "GET", path: "/graphql?" + query, body: "",
            contentType: nil, accept: accept, status: status, hasErrors: hasErrors)
    }

    private static func invalid(
        _ prefix: String, _ values: [String], _ body: (String) -> String
    ) -> [Audit] {
        values.enumerated().map { index, value in
            Audit(id: "\(prefix)\(index)", level: .may, body: body(value), status: 400...400)
        }
    }
}
