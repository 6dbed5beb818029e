import GraphQL
import NIOCore
import Testing

@testable import Server

/// The protocol's rules, without a socket.
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
        if case .close(let closing) = action { closing.code.rawValue } else { nil }
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
    func aConnectionIsAskedForWithOrWithoutAToken(message: String, token: String?) {
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
    func whatIsNoMessageClosesWith4400(message: String) {
        var state = Self.connected()
        #expect(code(state.receive(Array(message.utf8))) == 4400)
        #expect(state.receive(Array(Self.subscribe.utf8)) == .nothing)
    }

    @Test func bytesThatAreNoTextCloseWith1007() {
        var state = Self.connected()
        #expect(code(state.receive([0x22, 0xFF, 0x22])) == 1007)
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

    @Test func aBadTokenClosesWith4403() {
        var state = GraphQLTransportWS(operationsMax: 1)
        _ = state.receive(
            Array(#"{"type":"connection_init","payload":{"Authorization":"x"}}"#.utf8))
        #expect(code(state.closeForbidden("no")) == 4403)
    }

    @Test func theTimeForInitialisationEndsWith4408() {
        var state = GraphQLTransportWS(operationsMax: 1)
        #expect(code(state.initialisationTimedOut()) == 4408)
        var connected = Self.connected()
        #expect(connected.initialisationTimedOut() == .nothing)
    }

    @Test func anIdInUseClosesWith4409AndOneThatWasIsFree() {
        var state = Self.connected()
        let operation = ClientMessage.Operation(query: "{q}")
        #expect(
            state.receive(Array(Self.subscribe.utf8))
                == .start(id: "a", number: 1, operation))
        state.operationEnded("a", number: 1)
        #expect(
            state.receive(Array(Self.subscribe.utf8))
                == .start(id: "a", number: 2, operation))
        // The end of an earlier operation of this id is none of this one.
        state.operationEnded("a", number: 1)
        #expect(state.isActive("a", number: 2))
        guard case .close(let closing) = state.receive(Array(Self.subscribe.utf8)) else {
            Issue.record("it went on")
            return
        }
        #expect(closing == CloseFrame(.subscriberAlreadyExists, "Subscriber for a already exists"))
    }

    @Test func aLongReasonIsCutAtACharacter() {
        let closing = CloseFrame(.subscriberAlreadyExists, String(repeating: "é", count: 100))
        #expect(closing.reason.utf8.count == 122)
    }

    @Test func completeStopsTheOperation() {
        var state = Self.connected()
        #expect(state.receive(Array(#"{"id":"a","type":"complete"}"#.utf8)) == .nothing)
        _ = state.receive(Array(Self.subscribe.utf8))
        #expect(state.receive(Array(#"{"id":"a","type":"complete"}"#.utf8)) == .stop(number: 1))
        #expect(!state.isActive("a", number: 1))
    }

    @Test func pingIsAnsweredAlwaysAndWithItsPayload() {
        var state = GraphQLTransportWS(operationsMax: 1)
        #expect(state.receive(Array(#"{"type":"ping"}"#.utf8)) == .pong(payload: nil))
        #expect(
            state.receive(Array(#"{"type":"ping","payload":{"a":1}}"#.utf8))
                == .pong(payload: .object([.init("a", .int(1))])))
        #expect(state.receive(Array(#"{"type":"pong"}"#.utf8)) == .nothing)
    }

    @Test func aTokenInAPingIsLookedAtAndNotSentBack() {
        let renewal = Array(#"{"type":"ping","payload":{"Authorization":"Bearer n"}}"#.utf8)
        var state = Self.connected()
        #expect(state.receive(renewal) == .authenticate(token: "n"))
        // Operations go on meanwhile.
        #expect(code(state.receive(Array(Self.subscribe.utf8))) == nil)
        #expect(state.authenticated() == .pong(payload: nil))
        #expect(state.receive(renewal) == .authenticate(token: "n"))
        #expect(code(state.receive(renewal)) == 4429)
        var early = GraphQLTransportWS(operationsMax: 1)
        #expect(code(early.receive(renewal)) == 4401)
    }

    @Test func oneOperationTooManyIsRefusedAlone() {
        var state = Self.connected(operationsMax: 1)
        _ = state.receive(Array(Self.subscribe.utf8))
        let other = #"{"id":"b","type":"subscribe","payload":{"query":"{q}"}}"#
        guard case .rejectOperation(id: "b", let error) = state.receive(Array(other.utf8)) else {
            Issue.record("it was not refused")
            return
        }
        #expect(error.code == "RATE_LIMITED")
        #expect(state.isActive("a", number: 1))
    }
}

/// The times of a socket, without one.
@Suite struct SocketClockTests {
    private static let limits = HTTPLimits()
    private static let start = NIODeadline.uptimeNanoseconds(1)

    @Test func initialisationHasItsTime() {
        var clock = SocketTimers(Self.limits, now: Self.start)
        let late = Self.start + Self.limits.initialisationTimeout
        #expect(clock.deadline == late)
        #expect(clock.action(now: late) == .initialisationTimedOut)
        clock.connected(now: Self.start)
        #expect(clock.action(now: late) == .nothing)
    }

    @Test func aSilentClientIsPingedThenGivenUp() {
        var clock = SocketTimers(Self.limits, now: Self.start)
        clock.connected(now: Self.start)
        var now = Self.start + Self.limits.pingInterval
        #expect(clock.deadline == now)
        #expect(clock.action(now: now) == .ping)
        clock.received(now: now)
        now = now + Self.limits.pingInterval
        #expect(clock.action(now: now) == .ping)
        now = now + Self.limits.pingInterval
        #expect(clock.action(now: now) == .disconnect)
    }

    @Test func aTokenRunsOutUnlessALaterOneCame() {
        var clock = SocketTimers(Self.limits, now: Self.start)
        clock.connected(now: Self.start)
        clock.tokenExpiresAt = Self.start + .seconds(5)
        #expect(clock.deadline == Self.start + .seconds(5))
        #expect(clock.action(now: clock.deadline) == .tokenExpired)
        clock.tokenExpiresAt = Self.start + .seconds(900)
        #expect(clock.action(now: Self.start + .seconds(5)) == .nothing)
    }

    @Test func aClientThatDoesNotReadIsTooSlowInTheEnd() {
        var clock = SocketTimers(Self.limits, now: Self.start)
        clock.connected(now: Self.start)
        clock.set(isWritable: false, now: Self.start)
        let late = Self.start + Self.limits.slowReaderTimeout
        #expect(clock.action(now: late) == .tooSlow)
        clock.set(isWritable: true, now: Self.start)
        #expect(clock.action(now: late) == .nothing)
        clock.closeStarted(now: late)
        #expect(clock.action(now: late + Self.limits.lingeringCloseTimeout) == .disconnect)
    }
}
