import HTTPFetch

/// A cache of one issuer's keys, which fetches them when needed. `KeySetState` makes the decisions.
package actor KeySetCache {
    /// Fetches a key set and returns it with its maximum age in seconds, if the issuer specified one.
    package typealias Fetch = @Sendable () async throws(KeySetError) -> (keys: KeySet, maxAge: Int?)

    private let fetch: Fetch
    private let onFailure: @Sendable (KeySetError) -> Void
    private var state = KeySetState()
    private var fetching: Task<Void, Never>?

    /// - Parameter onFailure: Called after each failed fetch, for the log.
    package init(
        fetch: @escaping Fetch, onFailure: @escaping @Sendable (KeySetError) -> Void = { _ in }
    ) {
        self.fetch = fetch
        self.onFailure = onFailure
    }

    /// Creates a cache of keys that never change, such as those of a development issuer.
    package init(fixed keys: KeySet) {
        self.init(fetch: { () throws(KeySetError) in (keys, nil) })
    }

    /// Where the keys of an issuer are.
    package enum Source: Hashable, Sendable {
        case keys(at: String)
        /// At the URL in the issuer's discovery document, which is read before each fetch of the keys.
        case discovery(issuer: String)

        /// The first URL that is fetched, for the log.
        package var url: String {
            switch self {
            case .keys(let url): url
            case .discovery(let issuer): ProviderMetadata.url(of: issuer)
            }
        }
    }

    /// Creates a cache of the keys of an issuer. Each request takes at most 5 s and 64 KiB and follows no redirects.
    ///
    /// - Parameter allowsPlainHTTP: Whether URLs may use http; for development and tests only.
    package init(
        _ source: Source, fetcher: Fetcher, allowsPlainHTTP: Bool = false,
        onFailure: @escaping @Sendable (KeySetError) -> Void = { _ in }
    ) {
        @Sendable func fetch(_ url: String) async throws(KeySetError) -> FetchResponse {
            guard allowsPlainHTTP || url.lowercased().hasPrefix("https://") else {
                throw .unavailable("the URL of the keys must use https")
            }
            let request = FetchRequest(
                url: url, headers: [("Accept", "application/json")], deadline: .seconds(5),
                bodyBytesMax: KeySet.bytesMax, redirectsMax: 0)
            let response: FetchResponse
            do throws(FetchError) {
                response = try await fetcher.fetch(request)
            } catch { throw .unavailable("\(error)") }
            guard response.status == 200 else { throw .unavailable("status \(response.status)") }
            return response
        }
        self.init(
            fetch: { () async throws(KeySetError) in
                let url: String
                switch source {
                case .keys(let known): url = known
                case .discovery(let issuer):
                    let document = try await fetch(ProviderMetadata.url(of: issuer))
                    url = try ProviderMetadata(document.body, issuer: issuer).keysURL
                }
                let response = try await fetch(url)
                return (try KeySet(jwks: response.body), response.maxAgeSeconds)
            }, onFailure: onFailure)
    }

    /// Returns the key with this ID and algorithm, and fetches the key set first if necessary.
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

    /// Returns the fetch in progress, or starts one. It is an unstructured task, so that a cancelled caller
    /// does not cancel it for the others.
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
