import Synchronization

struct Message {
    var number: Int
    var text: String
}

/// The messages of a chat, and those who wait for new ones.
final class Room: Sendable {
    private struct State {
        var messages: [Message] = []
        var listeners: [Int: AsyncStream<Message>.Continuation] = [:]
        var lastListener = 0
    }

    private let state = Mutex(State())

    var messages: [Message] { state.withLock(\.messages) }

    func post(_ text: String) -> Message {
        state.withLock { state in
            let message = Message(number: state.messages.count + 1, text: text)
            state.messages.append(message)
            for listener in state.listeners.values { listener.yield(message) }
            return message
        }
    }

    /// Returns the messages that are posted from now on. A client that reads slowly misses all but the last 100.
    func newMessages() -> AsyncStream<Message> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Message.self, bufferingPolicy: .bufferingNewest(100))
        let id = state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = continuation
            return state.lastListener
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.listeners[id] = nil }
        }
        return stream
    }
}
