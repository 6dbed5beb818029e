import HTTPFetch

/// The keys of one issuer, fetched when needed and kept (`KeySetState` decides).
package actor KeySetCache {
    /// A fetched set with the seconds it may be kept, if the issuer said.
    package typealias Fetch = @Sendable () async throws(KeySetError) -> (keys: KeySet, maxAge: Int?)

    private let fetch: Fetch
    private let onFailure: @Sendable (KeySetError) -> Void
    private var state = KeySetState()
    private var fetching: Task<Void, Never>?

    /// - Parameter onFailure: told of each failed fetch, for the log.
    package init(
        fetch: @escaping Fetch, onFailure: @escaping @Sendable (KeySetError) -> Void = { _ in }
    ) {
        self.fetch = fetch
        self.onFailure = onFailure
    }

    /// Keys that never change: those of a development issuer.
    package init(fixed keys: KeySet) {
        self.init(fetch: { () throws(KeySetError) in (keys, nil) })
    }

    /// The keys at `url`, over `fetcher`: 5 s, 64 KiB, no redirects.
    ///
    /// - Parameter allowsPlainHTTP: for development and tests; otherwise the URL must be https.
    package init(
        url: String, fetcher: Fetcher, allowsPlainHTTP: Bool = false,
        onFailure: @escaping @Sendable (KeySetError) -> Void = { _ in }
    ) {
        let request = FetchRequest(
            url: url, headers: [("Accept", "application/json")], deadline: .seconds(5),
            bodyBytesMax: KeySet.bytesMax, redirectsMax: 0)
        let isSafe = allowsPlainHTTP || url.lowercased().hasPrefix("https://")
        self.init(
            fetch: { () async throws(KeySetError) in
                guard isSafe else { throw .unavailable("not an https URL") }
                let response: FetchResponse
                do throws(FetchError) {
                    response = try await fetcher.fetch(request)
                } catch { throw .unavailable("\(error)") }
                guard response.status == 200 else {
                    throw .unavailable("status \(response.status)")
                }
                return (try KeySet(jwks: response.body), response.maxAgeSeconds)
            }, onFailure: onFailure)
    }

    /// The key of that id and algorithm, fetched if need be.
    ///
    /// - Throws: `.unknownKey` or `.keysUnavailable`.
    package func key(
        id: [UInt8], algorithm: TokenAlgorithm, now: UnixSeconds
    ) async throws(TokenError) -> VerificationKey {
        var hasWaited = false
        while true {
            switch state.find(
                id: id, algorithm: algorithm, now: now, fetching: fetching != nil,
                afterFetch: hasWaited)
            {
            case .use(let key): return key
            case .useAndFetch(let key):
                _ = fetchOnce(now: now)
                return key
            case .fetch:
                await fetchOnce(now: now).value
                hasWaited = true
            case .refuse(let error): throw error
            }
        }
    }

    /// The fetch under way, or a new one. It is nobody's child, so a caller who gives up does not end it for the others.
    private func fetchOnce(now: UnixSeconds) -> Task<Void, Never> {
        if let fetching { return fetching }
        state.fetchStarted(now: now)
        let task = Task {
            do throws(KeySetError) {
                let (keys, maxAge) = try await fetch()
                state.fetched(keys, maxAge: maxAge, now: now)
            } catch {
                state.fetchFailed()
                onFailure(error)
            }
            fetching = nil
        }
        fetching = task
        return task
    }
}
