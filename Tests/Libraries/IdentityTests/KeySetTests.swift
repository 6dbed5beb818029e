import Basics
import Glibc
import HTTPFetch
import LoopbackHTTP
import Synchronization
import Testing

@testable import Identity

private let forge = TokenForge.shared
private let n = Base64URL.encode(forge.pair.modulus)
private let x = Base64URL.encode(forge.p256.x)
private let y = Base64URL.encode(forge.p256.y)

@Suite struct KeySetTests {
    @Test func parsesApplesKeys() throws {
        let keys = try KeySet(jwks: fixture("jwks-current.json"))
        #expect(
            keys.keys.map { String(decoding: $0.id, as: UTF8.self) } == [
                "FftONTxoEg", "T8tIJ1zSrO", "pggnQeNCOU",
            ])
        #expect(keys.key(id: Array("T8tIJ1zSrO".utf8), algorithm: .rs256) != nil)
        #expect(keys.key(id: Array("T8tIJ1zSrO".utf8), algorithm: .es256) == nil)
        #expect(keys.key(id: Array("T8tIJ1zSrO".utf8), algorithm: .hs256) == nil)
        #expect(keys.key(id: Array("t8tij1zsro".utf8), algorithm: .rs256) == nil)
    }

    @Test(
        arguments: [
            #"{"kty":"RSA","kid":"a","n":"\#(n)","e":"AQAB"}"#,
            #"{"kty":"RSA","kid":"a","n":"\#(n)","e":"AQAB","key_ops":["verify"],"x5c":[1]}"#,
            #"{"kty":"RSA","kid":"a","n":"\#(Base64URL.encode([0, 0] + forge.pair.modulus))","e":"AAEAAQ"}"#,
            #"{"kty":"EC","kid":"a","crv":"P-256","x":"\#(x)","y":"\#(y)"}"#,
        ])
    func acceptsKeys(jwk: String) throws {
        #expect(try KeySet(jwks: Array("{\"keys\":[\(jwk)]}".utf8)).keys.count == 1)
    }

    @Test(
        arguments: [
            #"{"kty":"RSA","n":"\#(n)","e":"AQAB"}"#,
            #"{"kty":"RSA","kid":"","n":"\#(n)","e":"AQAB"}"#,
            #"{"kty":"RSA","kid":1,"n":"\#(n)","e":"AQAB"}"#,
            #"{"kty":"RSA","kid":"a","use":"enc","n":"\#(n)","e":"AQAB"}"#,
            #"{"kty":"RSA","kid":"a","use":["sig"],"n":"\#(n)","e":"AQAB"}"#,
            #"{"kty":"RSA","kid":"a","key_ops":["sign"],"n":"\#(n)","e":"AQAB"}"#,
            #"{"kty":"RSA","kid":"a","alg":"ES256","n":"\#(n)","e":"AQAB"}"#,
            #"{"kty":"RSA","kid":"a","alg":"RSA-OAEP","n":"\#(n)","e":"AQAB"}"#,
            #"{"kty":"RSA","kid":"a","alg":"none","n":"\#(n)","e":"AQAB"}"#,
            #"{"kty":"RSA","kid":"a","alg":1,"n":"\#(n)","e":"AQAB"}"#,
            #"{"kty":"RSA","kid":"a","alg":"HS256","n":"\#(n)","e":"AQAB"}"#,
            #"{"kty":"RSA","kid":"a","n":"\#(n)","e":"AQ"}"#,
            #"{"kty":"RSA","kid":"a","n":"\#(n)","e":"Ag"}"#,
            #"{"kty":"RSA","kid":"a","n":"\#(n)","e":"AQAA"}"#,
            #"{"kty":"RSA","kid":"a","n":"\#(n)","e":""}"#,
            #"{"kty":"RSA","kid":"a","n":"\#(n)=","e":"AQAB"}"#,
            #"{"kty":"RSA","kid":"a","n":"AQAB","e":"AQAB"}"#,
            #"{"kty":"RSA","kid":"a","n":"","e":"AQAB"}"#,
            #"{"kty":"RSA","kid":"a","n":"\#(Base64URL.encode([UInt8](repeating: 0xFF, count: 2000)))","e":"AQAB"}"#,
            #"{"kty":"RSA","kid":"a","n":"\#(n)","e":"AQAB","d":"AQAB"}"#,
            #"{"kty":"RSA","kid":"a","e":"AQAB"}"#,
            #"{"kty":"oct","kid":"a","k":"c2VjcmV0"}"#,
            #"{"kty":"OKP","kid":"a","crv":"Ed25519","x":"AAAA"}"#,
            #"{"kty":"OKP","kid":"a","crv":"X25519","x":"\#(x)"}"#,
            #"{"kty":"OKP","kid":"a","crv":"Ed25519","alg":"ES256","x":"\#(x)"}"#,
            #"{"kty":"EC","kid":"a","crv":"P-256","alg":"ES384","x":"\#(x)","y":"\#(y)"}"#,
            #"{"kty":"EC","kid":"a","crv":"secp256k1","x":"\#(x)","y":"\#(y)"}"#,
            #"{"kty":"EC","kid":"a","crv":"P-256","x":"\#(x)","y":"\#(x)"}"#,
            #"{"kty":"EC","kid":"a","crv":"P-384","x":"\#(x)","y":"\#(y)"}"#,
            #"{"kty":"EC","kid":"a","crv":"P-256","x":"AA","y":"\#(y)"}"#,
            #"{"kty":"EC","kid":"a","crv":"P-256","x":"\#(y)","y":"\#(x)"}"#, "null", "1", "[]",
        ])
    func skipsUnusableKeys(jwk: String) throws {
        #expect(throws: KeySetError.noUsableKey) {
            try KeySet(jwks: Array("{\"keys\":[\(jwk)]}".utf8))
        }
        // A valid key in the same set is kept.
        let good = #"{"kty":"EC","kid":"good","crv":"P-256","x":"\#(x)","y":"\#(y)"}"#
        #expect(try KeySet(jwks: Array("{\"keys\":[\(jwk),\(good)]}".utf8)).keys.count == 1)
    }

    @Test func skipsKeysWithADuplicateID() throws {
        let rsa = #"{"kty":"RSA","kid":"a","n":"\#(n)","e":"AQAB"}"#
        let ec = #"{"kty":"EC","kid":"a","crv":"P-256","x":"\#(x)","y":"\#(y)"}"#
        let other = rsa.replacing("\"a\"", with: "\"b\"")
        let keys = try KeySet(jwks: Array("{\"keys\":[\(rsa),\(ec),\(other)]}".utf8)).keys
        #expect(keys.map(\.id) == [Array("b".utf8)])
    }

    @Test(arguments: [
        "", "{}", "[]", "null", "<html>", "{\"keys\":{}}", "{\"keys\":[}",
        "{\"keys\":[],\"keys\":[]}",
    ])
    func rejectsMalformedDocuments(text: String) {
        #expect(throws: KeySetError.malformed) { try KeySet(jwks: Array(text.utf8)) }
    }

    @Test func rejectsTooLongDocuments() {
        let text = forge.jwks + String(repeating: " ", count: 64 << 10)
        #expect(throws: KeySetError.tooLong) { try KeySet(jwks: Array(text.utf8)) }
    }
}

@Suite struct KeySetStateTests {
    private let keys = try? forge.keySet
    private let known = Array("rsa".utf8)
    private let unknown = Array("new".utf8)

    private func find(
        _ state: KeySetState, _ id: [UInt8], _ now: UnixSeconds, fetching: Bool = false,
        afterFetch: Bool = false
    ) -> String {
        switch state.find(
            id: id, algorithm: .rs256, now: now, fetching: fetching, afterFetch: afterFetch)
        {
        case .use: "use"
        case .useAndFetch: "use and fetch"
        case .fetch: "fetch"
        case .refuse(.keysUnavailable): "unavailable"
        case .refuse: "unknown"
        }
    }

    private func loaded(at now: UnixSeconds, maxAge: Int? = nil) throws -> KeySetState {
        var state = KeySetState()
        state.fetchStarted(now: now)
        state.fetched(try #require(keys), maxAge: maxAge, now: now)
        return state
    }

    @Test func startsWithAFetch() {
        var state = KeySetState()
        #expect(find(state, known, 1000) == "fetch")
        state.fetchStarted(now: 1000)
        #expect(find(state, known, 1000, fetching: true) == "fetch")
        state.fetchFailed()
        #expect(find(state, known, 1000, afterFetch: true) == "unavailable")
        // A failed fetch also delays the next one.
        #expect(find(state, known, 1029) == "unavailable")
        #expect(find(state, known, 1030) == "fetch")
    }

    @Test(arguments: [
        (0, "use"), (3599, "use"), (3600, "use and fetch"), (7199, "use and fetch"),
        (7200, "fetch"),
        (3600 + 86_399, "fetch"), (3600 + 86_400, "fetch"),
    ])
    func behaviorDependsOnTheAgeOfTheKeys(age: Int64, expected: String) throws {
        #expect(find(try loaded(at: 1000), known, 1000 + age) == expected)
    }

    @Test(
        arguments: [
            (nil, 3600), (600, 600), (0, 60), (-5, 60), (59, 60), (86_400, 3600),
            (Int.max, 3600),
            (Int.min, 60),
        ] as [(Int?, Int64)])
    func clampsMaxAge(maxAge: Int?, timeToLive: Int64) throws {
        let state = try loaded(at: 1000, maxAge: maxAge)
        #expect(find(state, known, 1000 + timeToLive - 1) == "use")
        #expect(find(state, known, 1000 + timeToLive) == "use and fetch")
    }

    @Test func unknownKeyIDsFetchAtMostEvery30Seconds() throws {
        var state = try loaded(at: 1000)
        var fetches = 0
        for second in Int64(1000)..<1090 {
            for _ in 0..<10 where find(state, unknown, second) == "fetch" {
                fetches += 1
                state.fetchStarted(now: second)
                state.fetched(try #require(keys), maxAge: nil, now: second)
            }
        }
        #expect(fetches == 2)
        #expect(find(state, unknown, 1090, afterFetch: true) == "unknown")
    }

    @Test func usesOldKeysForADayDuringAnOutage() throws {
        var state = try loaded(at: 0)
        for now in stride(from: Int64(3600), to: 3600 + 86_400, by: 600) {
            state.fetchStarted(now: now)
            state.fetchFailed()
            #expect(find(state, known, now, afterFetch: true) == "use")
            #expect(find(state, known, now + 10) == "use")
            #expect(find(state, known, now + 30) == (now + 30 < 90_000 ? "use and fetch" : "fetch"))
        }
        #expect(find(state, known, 90_000, afterFetch: true) == "unavailable")
    }

    @Test func keyOfAnotherAlgorithmIsUnknown() throws {
        let state = try loaded(at: 1000)
        let action = state.find(
            id: known, algorithm: .es256, now: 1000, fetching: false, afterFetch: true)
        #expect(action == .refuse(.unknownKey(id: "rsa")))
    }
}

@Suite struct KeySetCacheTests {
    private let fetcher = Fetcher(
        policy: FetchPolicy(
            userAgent: "test",
            allowed: (try? FetchAllowList(parsing: "127.0.0.1")) ?? FetchAllowList()))
    private let id = Array("rsa".utf8)

    private func error(
        _ cache: KeySetCache, _ id: String = "rsa", now: UnixSeconds
    ) async -> TokenError? {
        do throws(TokenError) {
            _ = try await cache.key(id: Array(id.utf8), algorithm: .rs256, now: now)
            return nil
        } catch { return error }
    }

    @Test func concurrentCallersShareOneFetch() async throws {
        let server = try LoopbackServer { _ in
            [.pause(milliseconds: 100), .response(200, forge.jwks)]
        }
        let cache = KeySetCache(
            .keys(at: server.url("/keys")), fetcher: fetcher, allowsPlainHTTP: true)
        await withTaskGroup(of: TokenError?.self) { group in
            for _ in 0..<50 { group.addTask { await error(cache, now: 1000) } }
            for await found in group { #expect(found == nil) }
        }
        #expect(server.requests.count == 1)
        #expect(server.requests.first?.target == "/keys")
        // 500 unknown IDs within 30 s, then 500 more.
        for index in 0..<1000 {
            let found = await error(cache, "k\(index)", now: 1000 + (index < 500 ? 0 : 30))
            #expect(found == .unknownKey(id: "k\(index)"))
        }
        #expect(server.requests.count == 2)
    }

    @Test(arguments: [
        [Step.response(500)], [.response(404, "<html>")], [.response(200, "<html>")],
        [.response(200, #"{"keys":[]}"#)],
        [.response(302, headers: ["Location: http://127.0.0.1:1/"])],
        [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{")],
        [.send("HTTP/1.1 200 OK\r\n\r\n"), .flood(" ", bytes: 70 << 10)],
        [.send("nonsense\r\n\r\n")],
    ])
    func keepsTheKeysWhenAFetchFails(steps: [Step]) async throws {
        let isBroken = Mutex(false)
        let failures = Mutex<[KeySetError]>([])
        let server = try LoopbackServer { _ in
            isBroken.withLock { $0 } ? steps : [.response(200, forge.jwks)]
        }
        let cache = KeySetCache(.keys(at: server.url()), fetcher: fetcher, allowsPlainHTTP: true) {
            error in
            failures.withLock { $0.append(error) }
        }
        #expect(await error(cache, now: 0) == nil)
        isBroken.withLock { $0 = true }
        // The unknown ID causes a fetch, whose response does not replace the valid set.
        #expect(await error(cache, "new", now: 40) == .unknownKey(id: "new"))
        #expect(await error(cache, now: 40) == nil)
        // The keys are used long after their time to live.
        #expect(await error(cache, now: 80_000) == nil)
        #expect(await error(cache, now: 80_000) == nil)
        #expect(failures.withLock { $0.count } >= 1)
        #expect(await error(cache, now: 100_000) == .keysUnavailable)
        // The cache recovers together with the issuer.
        isBroken.withLock { $0 = false }
        #expect(await error(cache, now: 100_040) == nil)
    }

    @Test func detectsAKeyRotation() async throws {
        let rotated = Mutex(false)
        let server = try LoopbackServer { _ in
            [
                .response(
                    200,
                    rotated.withLock { $0 }
                        ? forge.jwks.replacing("\"rsa\"", with: "\"next\"") : forge.jwks)
            ]
        }
        let cache = KeySetCache(.keys(at: server.url()), fetcher: fetcher, allowsPlainHTTP: true)
        #expect(await error(cache, now: 1000) == nil)
        rotated.withLock { $0 = true }
        #expect(await error(cache, "next", now: 1030) == nil)
        // The same fetch removed the withdrawn key.
        #expect(await error(cache, now: 1031) == .unknownKey(id: "rsa"))
    }

    @Test func requiresHTTPSByDefault() async throws {
        let server = try LoopbackServer { _ in [.response(200, forge.jwks)] }
        let cache = KeySetCache(.keys(at: server.url()), fetcher: fetcher)
        #expect(await error(cache, now: 1000) == .keysUnavailable)
        #expect(TokenError.keysUnavailable.meaning == .unavailable)
        #expect(server.requests.isEmpty)
    }

    @Test(.timeLimit(.minutes(1))) func cancelledCallerDoesNotCancelTheFetch() async throws {
        let mayRespond = Mutex(false)
        let server = try LoopbackServer { _ in
            while !mayRespond.withLock({ $0 }) { usleep(1000) }
            return [.response(200, forge.jwks)]
        }
        let cache = KeySetCache(.keys(at: server.url()), fetcher: fetcher, allowsPlainHTTP: true)
        let first = Task { await error(cache, now: 1000) }
        while server.requests.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        first.cancel()
        mayRespond.withLock { $0 = true }
        #expect(await error(cache, now: 1000) == nil)
        #expect(server.requests.count == 1)
    }
}
