import GraphQL
import NIOCore
import Testing

@testable import GraphQLNIO

/// The state machine of the protocol, without a socket.
@Suite struct GraphQLTransportWSTests {
    private typealias Action = GraphQLTransportWS.Action

    private static let subscribe = #"{"id":"a","type":"subscribe","payload":{"query":"{q}"}}"#

    private static func connected(operationsMax: Int = 100) -> GraphQLTransportWS {
        var state = GraphQLTransportWS(operationsMax: operationsMax)
        _ = state.receive(Array(#"{"type":"connection_init"}"#.utf8))
        _ = state.authenticated()
        return state
    }

    private func code(_ action: Action) -> UInt16? {
        if case .close(let frame) = action { frame.code.rawValue } else { nil }
    }

    @Test(arguments: [
        (#"{"type":"connection_init"}"#, nil),
        (#"{"type":"connection_init","payload":null}"#, nil),
        (#"{"type":"connection_init","payload":{"a":1}}"#, nil),
        (#"{"type":"connection_init","payload":{"Authorization":"Bearer t.o.k"}}"#, "t.o.k"),
        (#"{"type":"connection_init","payload":{"authorization":"bearer  t"}}"#, "t"),
        (#"{"type":"connection_init","payload":{"AUTHORIZATION":"t"}}"#, "t"),
        (#"{"type":"connection_init","payload":{"headers":{"Authorization":"Bearer t"}}}"#, "t"),
    ])
    func aConnectionOpensWithOrWithoutAToken(message: String, token: String?) {
        var state = GraphQLTransportWS(operationsMax: 1)
        #expect(state.receive(Array(message.utf8)) == .authenticate(token: token))
        #expect(state.authenticated() == .acknowledge)
    }

    @Test(arguments: [
        "", "{", "1", "null", #""x""#, "[]", "{}", #"{"type":1}"#, #"{"type":"unknown"}"#,
        #"{"type":"connection_ack"}"#, #"{"type":"next","id":"a"}"#,
        #"{"type":"connection_init","payload":"x"}"#, #"{"type":"ping","payload":"x"}"#,
        #"{"type":"pong","payload":1}"#, #"{"type":"subscribe","id":"a"}"#,
        #"{"type":"subscribe","payload":{"query":"{q}"}}"#,
        #"{"type":"subscribe","id":1,"payload":{"query":"{q}"}}"#,
        #"{"type":"subscribe","id":"","payload":{"query":"{q}"}}"#,
        #"{"type":"subscribe","id":"a","payload":{}}"#,
        #"{"type":"subscribe","id":"a","payload":{"query":1}}"#,
        #"{"type":"subscribe","id":"a","payload":{"query":"{q}","variables":"x"}}"#,
        #"{"type":"subscribe","id":"a","payload":{"query":"{q}","operationName":1}}"#,
        #"{"type":"subscribe","id":"a","payload":{"query":"{q}","extensions":[]}}"#,
        #"{"type":"complete"}"#, #"{"type":"complete","id":2}"#,
    ])
    func invalidMessagesCloseWith4400(message: String) {
        var state = Self.connected()
        #expect(code(state.receive(Array(message.utf8))) == 4400)
        #expect(state.receive(Array(Self.subscribe.utf8)) == .nothing)
    }

    @Test func invalidUTF8ClosesWith1007() {
        var state = Self.connected()
        #expect(code(state.receive([0x22, 0xFF, 0x22])) == 1007)
    }

    /// Other messages are not charged by their size.
    @Test(arguments: ["ping", "pong", "connection_init"])
    func largeMessagesAreOperations(type: String) {
        var state =
            type == "connection_init" ? GraphQLTransportWS(operationsMax: 1) : Self.connected()
        let text = String(repeating: "x", count: RequestJSON.shortBytesMax)
        let message = #"{"type":"\#(type)","payload":{"x":"\#(text)"}}"#
        #expect(
            state.receive(Array(message.utf8))
                == .close(
                    CloseFrame(
                        .badRequest, "Only subscribe messages may have more than 32768 bytes.")))
    }

    /// Coercing more values would keep the event loop busy for too long.
    @Test(arguments: [true, false]) func numberOfValuesIsLimited(isExceeded: Bool) {
        var state = Self.connected()
        // The message, its three members, the two members of the payload, and the list.
        let count = RequestJSON.valuesMax - 7 + (isExceeded ? 1 : 0)
        let values = Array(repeating: "1", count: count).joined(separator: ",")
        let message =
            #"{"id":"a","type":"subscribe","payload":{"query":"{q}","variables":{"a":[\#(values)]}}}"#
        guard case .close(let frame) = state.receive(Array(message.utf8)) else {
            #expect(!isExceeded)
            return
        }
        #expect(isExceeded && frame.reason.hasPrefix("JSON has more than 10000 values at byte "))
    }

    @Test func operationsBeforeTheAcknowledgementCloseWith4401() {
        var early = GraphQLTransportWS(operationsMax: 1)
        #expect(code(early.receive(Array(Self.subscribe.utf8))) == 4401)
        var hasty = GraphQLTransportWS(operationsMax: 1)
        _ = hasty.receive(Array(#"{"type":"connection_init"}"#.utf8))
        #expect(code(hasty.receive(Array(Self.subscribe.utf8))) == 4401)
    }

    @Test func aSecondInitialisationClosesWith4429() {
        var hasty = GraphQLTransportWS(operationsMax: 1)
        _ = hasty.receive(Array(#"{"type":"connection_init"}"#.utf8))
        #expect(code(hasty.receive(Array(#"{"type":"connection_init"}"#.utf8))) == 4429)
        var state = Self.connected()
        #expect(code(state.receive(Array(#"{"type":"connection_init"}"#.utf8))) == 4429)
    }

    @Test func anInvalidTokenClosesWith4403() {
        var state = GraphQLTransportWS(operationsMax: 1)
        _ = state.receive(
            Array(#"{"type":"connection_init","payload":{"Authorization":"x"}}"#.utf8))
        #expect(code(state.closeForbidden("no")) == 4403)
    }

    @Test func theInitialisationTimeoutClosesWith4408() {
        var state = GraphQLTransportWS(operationsMax: 1)
        #expect(code(state.initialisationTimedOut()) == 4408)
        var connected = Self.connected()
        #expect(connected.initialisationTimedOut() == .nothing)
    }

    @Test func anIdInUseClosesWith4409AndCanBeReusedAfterItsEnd() {
        var state = Self.connected()
        let operation = ClientMessage.Operation(
            query: "{q}", byteCount: Self.subscribe.utf8.count)
        #expect(
            state.receive(Array(Self.subscribe.utf8))
                == .start(id: "a", number: 1, operation))
        state.operationEnded("a", number: 1)
        #expect(
            state.receive(Array(Self.subscribe.utf8))
                == .start(id: "a", number: 2, operation))
        // The end of an earlier operation with this id does not end this one.
        state.operationEnded("a", number: 1)
        #expect(state.isActive("a", number: 2))
        guard case .close(let frame) = state.receive(Array(Self.subscribe.utf8)) else {
            Issue.record("the connection was not closed")
            return
        }
        #expect(frame == CloseFrame(.subscriberAlreadyExists, "Subscriber for a already exists"))
    }

    @Test func longReasonsAreTruncatedAtACharacter() {
        let frame = CloseFrame(.subscriberAlreadyExists, String(repeating: "é", count: 100))
        #expect(frame.reason.utf8.count == 122)
    }

    @Test func completeStopsTheOperation() {
        var state = Self.connected()
        #expect(state.receive(Array(#"{"id":"a","type":"complete"}"#.utf8)) == .nothing)
        _ = state.receive(Array(Self.subscribe.utf8))
        #expect(state.receive(Array(#"{"id":"a","type":"complete"}"#.utf8)) == .stop(number: 1))
        #expect(!state.isActive("a", number: 1))
    }

    @Test func pingsAreAnsweredInEveryPhaseWithTheirPayload() {
        var state = GraphQLTransportWS(operationsMax: 1)
        #expect(state.receive(Array(#"{"type":"ping"}"#.utf8)) == .pong(payload: nil))
        #expect(
            state.receive(Array(#"{"type":"ping","payload":{"a":1}}"#.utf8))
                == .pong(payload: .object([.init("a", .int(1))])))
        #expect(state.receive(Array(#"{"type":"pong"}"#.utf8)) == .nothing)
    }

    @Test func aTokenInAPingIsAuthenticatedAndNotReturned() {
        let renewal = Array(#"{"type":"ping","payload":{"Authorization":"Bearer n"}}"#.utf8)
        var state = Self.connected()
        #expect(state.receive(renewal) == .authenticate(token: "n"))
        // Operations are allowed in the meantime.
        #expect(code(state.receive(Array(Self.subscribe.utf8))) == nil)
        #expect(state.authenticated() == .pong(payload: nil))
        #expect(state.receive(renewal) == .authenticate(token: "n"))
        #expect(code(state.receive(renewal)) == 4429)
        var early = GraphQLTransportWS(operationsMax: 1)
        #expect(code(early.receive(renewal)) == 4401)
    }

    @Test func anOperationAboveTheLimitIsRefusedAndTheOthersContinue() {
        var state = Self.connected(operationsMax: 1)
        _ = state.receive(Array(Self.subscribe.utf8))
        let other = #"{"id":"b","type":"subscribe","payload":{"query":"{q}"}}"#
        guard case .rejectOperation(id: "b", let error) = state.receive(Array(other.utf8)) else {
            Issue.record("the operation was not refused")
            return
        }
        #expect(error.code == "RATE_LIMITED")
        #expect(state.isActive("a", number: 1))
    }
}

/// The deadlines of a socket, with an injected clock.
@Suite struct SocketTimersTests {
    private static let limits = HTTPLimits()
    private static let start = NIODeadline.uptimeNanoseconds(1)

    @Test func initialisationHasATimeout() {
        var timers = SocketTimers(Self.limits, now: Self.start)
        let late = Self.start + Self.limits.initialisationTimeout
        #expect(timers.deadline == late)
        #expect(timers.action(now: late) == .initialisationTimedOut)
        timers.connected(now: Self.start)
        #expect(timers.action(now: late) == .nothing)
    }

    @Test func aSilentClientIsPingedAndThenDisconnected() {
        var timers = SocketTimers(Self.limits, now: Self.start)
        timers.connected(now: Self.start)
        var now = Self.start + Self.limits.pingInterval
        #expect(timers.deadline == now)
        #expect(timers.action(now: now) == .ping)
        timers.received(now: now)
        now = now + Self.limits.pingInterval
        #expect(timers.action(now: now) == .ping)
        now = now + Self.limits.pingInterval
        #expect(timers.action(now: now) == .disconnect)
    }

    @Test func aTokenExpiresUnlessALaterOneReplacesIt() {
        var timers = SocketTimers(Self.limits, now: Self.start)
        timers.connected(now: Self.start)
        timers.tokenExpiresAt = Self.start + .seconds(5)
        #expect(timers.deadline == Self.start + .seconds(5))
        #expect(timers.action(now: timers.deadline) == .tokenExpired)
        timers.tokenExpiresAt = Self.start + .seconds(900)
        #expect(timers.action(now: Self.start + .seconds(5)) == .nothing)
    }

    @Test func aClientThatDoesNotReadIsTooSlow() {
        var timers = SocketTimers(Self.limits, now: Self.start)
        timers.connected(now: Self.start)
        timers.set(isWritable: false, now: Self.start)
        let late = Self.start + Self.limits.slowReaderTimeout
        #expect(timers.action(now: late) == .tooSlow)
        timers.set(isWritable: true, now: Self.start)
        #expect(timers.action(now: late) == .nothing)
        timers.closeStarted(now: late)
        #expect(timers.action(now: late + Self.limits.lingeringCloseTimeout) == .disconnect)
    }
}
