import GraphQL
import Testing

/// Tests CreateSourceEventStream: how the event stream of a subscription is opened.
///
/// Spec: https://spec.graphql.org/September2025/#CreateSourceEventStream()
@Suite struct CreateSourceEventStreamTests {
    @Test func opensStreamOfTheRootField() async throws {
        let context = RecordingContext()
        _ = try await openStream(
            "subscription { alias: count(to: 3) { number } }", context: context)
        #expect(context.events == ["open"])
    }

    @Test func coercesArgumentsFromVariables() async throws {
        let stream = try await openStream(
            "subscription ($n: Int!) { count(to: $n) { number } }", variables: #"{"n": 1}"#)
        #expect(try await responses(stream) == [#"{"data":{"count":{"number":1}}}"#])
    }

    @Test(arguments: [
        (
            "subscription { count(to: -1) { number } }",
            """
            {"errors": [{"message": "Not below 0.", "locations": [{"line": 1, "column": 16}],
                         "path": ["count"], "extensions": {"code": "BAD"}}]}
            """
        ),
        (
            "subscription ($n: Int = 1) { c: count(to: $n) { number } }",
            """
            {"errors": [{"message": "Argument \\"to\\" of non-null type \\"Int!\\" must not be null.",
                         "locations": [{"line": 1, "column": 43}],
                         "path": ["c"], "extensions": {"code": "BAD_USER_INPUT"}}]}
            """
        ),
        (
            "subscription { plain }",
            """
            {"errors": [{"message": "The operation does not select a field with an event stream."}]}
            """
        ),
        (
            "{ q }",
            """
            {"errors": [{"message": "The operation does not select a field with an event stream."}]}
            """
        ),
    ])
    func failureToOpenStreamIsRequestError(source: String, response: String) async throws {
        let error = await #expect(throws: RequestErrors.self) {
            _ = try await openStream(source, variables: #"{"n": null}"#)
        }
        #expect(
            error.map { String(decoding: $0.body, as: UTF8.self) } == jsonText(try json(response)))
    }

    /// Validation guarantees that a subscription has exactly one root field.
    @Test(arguments: [
        "subscription { count(to: 1) { number } sure { number } }",
        "subscription { ...F } fragment F on Subscription { sure { number } plain }",
        "subscription { __typename }",
        "subscription { sure @skip(if: false) { number } }",
    ])
    func rejectsOtherThanOneRootField(source: String) async {
        await #expect(throws: RequestErrors.self) { _ = try await openStream(source) }
    }
}
