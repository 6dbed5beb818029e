import GraphQL
import Testing

/// Tests MapSourceToResponseEvent: every event of a subscription is executed like a query, with the
/// event as the root object.
///
/// Spec: https://spec.graphql.org/September2025/#MapSourceToResponseEvent()
@Suite struct MapSourceToResponseEventTests {
    @Test func eachEventProducesOneResponse() async throws {
        let stream = try await openStream("subscription { c: count(to: 3) { number } }")
        #expect(
            try await responses(stream) == [
                #"{"data":{"c":{"number":1}}}"#, #"{"data":{"c":{"number":2}}}"#,
                #"{"data":{"c":{"number":3}}}"#,
            ])
        #expect(try await stream.next() == nil)
    }

    @Test func streamWithoutEventsHasNoResponses() async throws {
        let stream = try await openStream("subscription { count(to: 0) { number } }")
        #expect(try await responses(stream) == [])
    }

    /// The next event is executed when the consumer requests the next response.
    @Test func eventsAreExecutedOnDemandEachInItsOwnContext() async throws {
        var contexts: [RecordingContext] = []
        let stream = try await openStream("subscription { count(to: 3) { number } }") {
            contexts.append(RecordingContext())
            return contexts[contexts.count - 1]
        }
        #expect(contexts.isEmpty)
        for count in 1...2 {
            _ = try await stream.next()
            #expect(contexts.map(\.events) == Array(repeating: ["start"], count: count))
        }
    }

    @Test func streamContinuesAfterAnErrorInAnEvent() async throws {
        let stream = try await openStream("subscription { count(to: 3) { number odd } }")
        #expect(
            try await responses(stream) == [
                #"{"data":{"count":{"number":1,"odd":1}}}"#,
                #"{"errors":[{"message":"Cannot return null for non-nullable field Event.odd.","#
                    + #""locations":[{"line":1,"column":38}],"path":["count","odd"]}],"data":{"count":null}}"#,
                #"{"data":{"count":{"number":3,"odd":3}}}"#,
            ])
    }

    @Test func streamContinuesAfterNullData() async throws {
        let stream = try await openStream("subscription { sure { number odd } }")
        #expect(
            try await responses(stream) == [
                #"{"data":{"sure":{"number":1,"odd":1}}}"#,
                #"{"errors":[{"message":"Cannot return null for non-nullable field Event.odd.","#
                    + #""locations":[{"line":1,"column":30}],"path":["sure","odd"]}],"data":null}"#,
                #"{"data":{"sure":{"number":3,"odd":3}}}"#,
            ])
    }

    @Test func failureOfTheSourceEndsTheStream() async throws {
        let stream = try await openStream("subscription { b: broken { number } }")
        #expect(try await stream.next()?.errors == [])
        let error = await #expect(throws: RequestErrors.self) { try await stream.next() }
        #expect(
            error.map { String(decoding: $0.body, as: UTF8.self) }
                == #"{"errors":[{"message":"The source failed.","#
                + #""locations":[{"line":1,"column":16}],"path":["b"]}]}"#)
    }

    @Test func limitsApplyToEachEvent() async throws {
        let limited = try await openStream(
            "subscription { count(to: 2) { number odd } }", errorsMax: 0)
        #expect(
            try await responses(limited) == [
                #"{"data":{"count":{"number":1,"odd":1}}}"#,
                #"{"errors":[{"message":"1 more error is left out, so a null without an error may have failed.","#
                    + #""extensions":{"code":"RESPONSE_TOO_LARGE","limit":"errorsMax","max":0,"omitted":1}}],"#
                    + #""data":{"count":null}}"#,
            ])
        let short = try await openStream(
            "subscription { count(to: 1) { number } }", responseBytesMax: 10)
        #expect(try await short.next()?.errors.map(\.kind) == [.responseTooLarge])
    }
}
