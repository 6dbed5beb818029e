import GraphQL

/// One socket of the `graphql-transport-ws` protocol: what happens goes in, what is to be done comes out.
///
/// Spec: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md
struct GraphQLTransportWS {
    enum Action: Equatable {
        case nothing
        /// To be told of by `authenticated` or `refused`; nil is nobody, who may open a connection too.
        case authenticate(token: String?)
        case acknowledge
        case pong(payload: Value?)
        case start(id: String, number: Int, ClientMessage.Operation)
        case stop(number: Int)
        /// An operation that is refused, the others go on.
        case refuse(id: String, GraphQLError)
        case close(Closing)
    }

    private enum Phase {
        /// The client has not asked for a connection yet.
        case open
        case connecting
        case connected
        /// A new token is looked at.
        case renewing
        case closed
    }

    private let operationsMax: Int
    private var phase = Phase.open
    /// Operations by the client's id; an id may come again when its operation has ended, a number never.
    private var operations: [String: Int] = [:]
    private var lastNumber = 0

    init(operationsMax: Int) { self.operationsMax = operationsMax }

    mutating func receive(_ text: [UInt8]) -> Action {
        if case .closed = phase { return .nothing }
        do throws(Closing) {
            return try receive(try ClientMessage(text))
        } catch {
            return close(error)
        }
    }

    private mutating func receive(_ message: ClientMessage) throws(Closing) -> Action {
        switch message {
        case .connectionInit(let payload):
            guard case .open = phase else {
                throw Closing(.tooManyInitialisationRequests, "Too many initialisation requests")
            }
            phase = .connecting
            return .authenticate(token: payload?.bearerToken)
        case .ping(let payload):
            guard let token = payload?.bearerToken else { return .pong(payload: payload) }
            switch phase {
            case .connected:
                phase = .renewing
                return .authenticate(token: token)
            case .renewing:
                throw Closing(
                    .tooManyInitialisationRequests, "Another new token is being looked at.")
            case .open, .connecting, .closed:
                throw Closing(.unauthorized, "Unauthorized")
            }
        case .pong:
            return .nothing
        case .subscribe(let id, let operation):
            return try subscribe(id, operation)
        case .complete(let id):
            // It may have ended while the message was under way.
            guard let number = operations.removeValue(forKey: id) else { return .nothing }
            return .stop(number: number)
        }
    }

    private mutating func subscribe(
        _ id: String, _ operation: ClientMessage.Operation
    ) throws(Closing) -> Action {
        switch phase {
        case .open, .connecting, .closed: throw Closing(.unauthorized, "Unauthorized")
        case .connected, .renewing: break
        }
        if operations[id] != nil {
            throw Closing(.subscriberAlreadyExists, "Subscriber for \(id) already exists")
        }
        guard operations.count < operationsMax else {
            return .refuse(
                id: id,
                GraphQLError(
                    "At most \(operationsMax) operations at once on one socket.",
                    extensions: [.init("code", .string("RATE_LIMITED"))]))
        }
        lastNumber += 1
        operations[id] = lastNumber
        return .start(id: id, number: lastNumber, operation)
    }

    /// The token was good, or there was none.
    mutating func authenticated() -> Action {
        switch phase {
        case .connecting:
            phase = .connected
            return .acknowledge
        case .renewing:
            phase = .connected
            // The token is not sent back.
            return .pong(payload: nil)
        case .open, .connected, .closed: return .nothing
        }
    }

    /// The token was not looked at, for too many came. A socket that has one goes on with it, until that ends.
    mutating func rateLimited(retryAfterSeconds: Int) -> Action {
        guard case .renewing = phase else {
            return close(
                Closing(.tryAgainLater, "Too many requests. Try again in \(retryAfterSeconds) s."))
        }
        phase = .connected
        return .pong(
            payload: .object([
                .init("code", .string("RATE_LIMITED")),
                .init("retryAfter", .int(retryAfterSeconds)),
            ]))
    }

    mutating func refused(_ reason: String) -> Action { close(Closing(.forbidden, reason)) }

    /// The time for `connection_init` is over.
    mutating func initialisationTimedOut() -> Action {
        guard case .open = phase else { return .nothing }
        return close(Closing(.initialisationTimeout, "Connection initialisation timeout"))
    }

    /// Whether the client still waits for what this operation says.
    func isActive(_ id: String, number: Int) -> Bool { operations[id] == number }

    /// The operation has said its last.
    mutating func ended(_ id: String, number: Int) {
        if operations[id] == number { operations[id] = nil }
    }

    /// Nothing more is done.
    mutating func close(_ closing: Closing) -> Action {
        if case .closed = phase { return .nothing }
        phase = .closed
        operations = [:]
        return .close(closing)
    }
}
