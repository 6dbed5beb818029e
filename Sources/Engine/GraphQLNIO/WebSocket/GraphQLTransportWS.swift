import GraphQL
import GraphQLServing

/// The state of one connection in the `graphql-transport-ws` protocol. It performs no I/O: each event returns the
/// action to perform.
///
/// `phase` has these transitions:
///
/// - `open` to `connecting`: the client has sent `connection_init`, and its token is being authenticated.
/// - `connecting` to `connected`: the token is valid, or there was none. Operations are allowed from now on.
/// - `connected` to `reauthenticating` and back: the client has sent a `ping` with a new token. Operations continue in
///   the meantime. After success the server replies with a `pong`.
/// - Any phase to `closed`: a message breaks the protocol, authentication fails, or the connection ends.
///
/// Each operation has the client's id and a number that is unique within the connection. The client may reuse an id as
/// soon as its operation has ended. The number distinguishes the two operations: if a task for operation 1 reports its
/// end after the client has reused its id for operation 2, `operationEnded` ignores the report.
///
/// Spec: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md
struct GraphQLTransportWS {
    enum Action: Equatable {
        case nothing
        /// Report the result with `authenticated`, `rateLimited`, or `closeForbidden`. A nil token is an anonymous
        /// client, which may open a connection too.
        case authenticate(token: String?)
        case acknowledge
        case pong(payload: Value?)
        case start(id: String, number: Int, ClientMessage.Operation)
        case stop(number: Int)
        /// Send an error for one operation. Other operations continue.
        case rejectOperation(id: String, GraphQLError)
        case close(CloseFrame)
    }

    private enum Phase {
        /// The client has not sent `connection_init` yet.
        case open
        case connecting
        case connected
        /// A new token is being authenticated.
        case reauthenticating
        case closed
    }

    private let operationsMax: Int
    private var phase = Phase.open
    /// The numbers of the running operations by the client's id.
    private var operations: [String: Int] = [:]
    private var lastNumber = 0
    /// The app that the client has named in `connection_init`.
    private(set) var app: ClientApp?

    init(operationsMax: Int) { self.operationsMax = operationsMax }

    mutating func receive(_ text: [UInt8]) -> Action {
        receive(Result { () throws(CloseFrame) in try ClientMessage(text) })
    }

    /// Returns the action after a message, or after text that is not a valid message.
    mutating func receive(_ message: Result<ClientMessage, CloseFrame>) -> Action {
        if case .closed = phase { return .nothing }
        do throws(CloseFrame) {
            return try receive(try message.get())
        } catch {
            return close(error)
        }
    }

    private mutating func receive(_ message: ClientMessage) throws(CloseFrame) -> Action {
        switch message {
        case .connectionInit(let payload):
            guard case .open = phase else {
                throw CloseFrame(.tooManyInitialisationRequests, "Too many initialisation requests")
            }
            phase = .connecting
            app = payload?.clientApp
            return .authenticate(token: payload?.bearerToken)
        case .ping(let payload):
            guard let token = payload?.bearerToken else { return .pong(payload: payload) }
            switch phase {
            case .connected:
                phase = .reauthenticating
                return .authenticate(token: token)
            case .reauthenticating:
                throw CloseFrame(
                    .tooManyInitialisationRequests, "Another new token is being authenticated.")
            case .open, .connecting, .closed:
                throw CloseFrame(.unauthorized, "Unauthorized")
            }
        case .pong:
            return .nothing
        case .subscribe(let id, let operation):
            return try subscribe(id, operation)
        case .complete(let id):
            // The operation may have ended before the message arrived.
            guard let number = operations.removeValue(forKey: id) else { return .nothing }
            return .stop(number: number)
        }
    }

    private mutating func subscribe(
        _ id: String, _ operation: ClientMessage.Operation
    ) throws(CloseFrame) -> Action {
        switch phase {
        case .open, .connecting, .closed: throw CloseFrame(.unauthorized, "Unauthorized")
        case .connected, .reauthenticating: break
        }
        if operations[id] != nil {
            throw CloseFrame(.subscriberAlreadyExists, "Subscriber for \(id) already exists")
        }
        guard operations.count < operationsMax else {
            return .rejectOperation(
                id: id,
                GraphQLError(
                    "At most \(operationsMax) operations may run on one socket.",
                    extensions: [.init("code", .string("RATE_LIMITED"))]))
        }
        lastNumber += 1
        operations[id] = lastNumber
        return .start(id: id, number: lastNumber, operation)
    }

    /// Returns the action after the token was found valid, or if there was none.
    mutating func authenticated() -> Action {
        switch phase {
        case .connecting:
            phase = .connected
            return .acknowledge
        case .reauthenticating:
            phase = .connected
            // The payload contains the token, so it is not returned.
            return .pong(payload: nil)
        case .open, .connected, .closed: return .nothing
        }
    }

    /// Returns the action if the token was not checked because of a rate limit. A socket that is already connected
    /// keeps its earlier token until that expires.
    mutating func rateLimited(retryAfterSeconds: Int) -> Action {
        guard case .reauthenticating = phase else {
            return close(
                CloseFrame(
                    .tryAgainLater, "Too many requests. Try again in \(retryAfterSeconds) s."))
        }
        phase = .connected
        return .pong(
            payload: .object([
                .init("code", .string("RATE_LIMITED")),
                .init("retryAfter", .int(retryAfterSeconds)),
            ]))
    }

    /// Closes the connection, because the token is invalid or expired, or because the session has ended.
    mutating func closeForbidden(_ reason: String) -> Action {
        close(CloseFrame(.forbidden, reason))
    }

    /// Returns the action when the time for `connection_init` is over.
    mutating func initialisationTimedOut() -> Action {
        guard case .open = phase else { return .nothing }
        return close(CloseFrame(.initialisationTimeout, "Connection initialisation timeout"))
    }

    /// Returns whether the client still waits for responses of this operation.
    func isActive(_ id: String, number: Int) -> Bool { operations[id] == number }

    /// Removes an operation that has sent its last message.
    mutating func operationEnded(_ id: String, number: Int) {
        if operations[id] == number { operations[id] = nil }
    }

    /// Closes the connection. Later events have no effect.
    mutating func close(_ frame: CloseFrame) -> Action {
        if case .closed = phase { return .nothing }
        phase = .closed
        operations = [:]
        return .close(frame)
    }
}
