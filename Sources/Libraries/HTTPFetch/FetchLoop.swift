import CCurl
import Glibc
import Synchronization

/// The thread that runs libcurl's multi handle, and a thread-safe inbox for it.
///
/// Only this thread calls libcurl, except for `curl_multi_wakeup`, which is thread-safe. Other threads put
/// transfers to start and to cancel into the inbox and wake the thread up.
///
/// A transfer's ID is in `issued` until `start` is called. Cancelling it before that removes the ID, so
/// that `start` fails; cancelling it afterwards puts it into `cancelling`.
final class FetchLoop: Sendable {
    typealias Continuation = CheckedContinuation<Result<FetchResponse, FetchError>, Never>

    private struct Inbox {
        /// IDs that were issued but not started or cancelled yet.
        var issued: Set<UInt64> = []
        var starting: [(id: UInt64, hop: Hop, continuation: Continuation)] = []
        var cancelling: [UInt64] = []
        var inFlight = 0
        var lastID: UInt64 = 0
        var stopping = false
    }

    private let inbox = Mutex(Inbox())
    private let policy: FetchPolicy
    // Set before the thread starts. The thread frees it under the lock, after `stopping` was set.
    private nonisolated(unsafe) let multi: UnsafeMutableRawPointer?

    init(policy: FetchPolicy) {
        self.policy = policy
        _ = Self.libraryIsReady
        multi = curl_multi_init()
        guard multi != nil else { return }
        let context = Unmanaged.passRetained(self).toOpaque()
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                // The pointer is the loop, which was retained for this thread.
                let loop = Unmanaged<FetchLoop>.fromOpaque(context!).takeRetainedValue()
                loop.run()
                return nil
            }, context)
        if code == 0 {
            pthread_detach(thread)
        } else {
            Unmanaged<FetchLoop>.fromOpaque(context).release()
            inbox.withLock { $0.stopping = true }
        }
    }

    private static let libraryIsReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// Issues an ID for a transfer, so that it can be cancelled even before it starts.
    func nextID() -> UInt64 {
        inbox.withLock { inbox in
            inbox.lastID += 1
            inbox.issued.insert(inbox.lastID)
            return inbox.lastID
        }
    }

    func start(_ hop: Hop, id: UInt64, _ continuation: Continuation) {
        let failure: FetchError? = inbox.withLock { inbox in
            guard inbox.issued.remove(id) != nil, !inbox.stopping, multi != nil else {
                return .cancelled
            }
            guard inbox.inFlight < policy.transfersMax else { return .overloaded }
            inbox.inFlight += 1
            inbox.starting.append((id, hop, continuation))
            curl_multi_wakeup(multi)
            return nil
        }
        if let failure { continuation.resume(returning: .failure(failure)) }
    }

    func cancel(_ id: UInt64) {
        inbox.withLock { inbox in
            guard inbox.issued.remove(id) == nil, !inbox.stopping, multi != nil else { return }
            inbox.cancelling.append(id)
            curl_multi_wakeup(multi)
        }
    }

    /// Stops the thread. Transfers in flight fail with `.cancelled`.
    func stop() {
        inbox.withLock { inbox in
            guard !inbox.stopping, multi != nil else { return }
            inbox.stopping = true
            curl_multi_wakeup(multi)
        }
    }

    // MARK: The thread

    private func run() {
        guard let multi else { return }
        var transfers: [UInt64: Transfer] = [:]
        var identifiers: [UnsafeMutableRawPointer: UInt64] = [:]

        func take(_ id: UInt64) -> Transfer? {
            guard let transfer = transfers.removeValue(forKey: id) else { return nil }
            identifiers[transfer.handle] = nil
            transfer.remove(from: multi)
            inbox.withLock { $0.inFlight -= 1 }
            return transfer
        }

        while true {
            let (starting, cancelling, stopping) = inbox.withLock { inbox in
                defer {
                    inbox.starting = []
                    inbox.cancelling = []
                }
                return (inbox.starting, inbox.cancelling, inbox.stopping)
            }
            for (id, hop, continuation) in starting {
                guard let transfer = Transfer(hop, policy: policy, continuation: continuation)
                else {
                    inbox.withLock { $0.inFlight -= 1 }
                    continue
                }
                transfers[id] = transfer
                identifiers[transfer.handle] = id
                if !transfer.start(in: multi) { take(id)?.fail(.invalidRequest) }
            }
            // Start before cancelling, because one batch can contain both for the same transfer.
            for id in cancelling { take(id)?.fail(.cancelled) }
            if stopping { break }

            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            var easy: UnsafeMutableRawPointer?
            var code = CURLE_OK
            while bookplate_curl_next_finished(multi, &easy, &code) != 0 {
                guard let easy, let id = identifiers[easy] else { continue }
                take(id)?.finish(code)
            }
            // Returns for I/O, for libcurl's timers, and when woken up.
            curl_multi_poll(multi, nil, 0, 60_000, nil)
        }

        for id in Array(transfers.keys) { take(id)?.fail(.cancelled) }
        inbox.withLock { _ in _ = curl_multi_cleanup(multi) }
    }
}
