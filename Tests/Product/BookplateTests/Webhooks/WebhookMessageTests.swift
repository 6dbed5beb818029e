import Identity
import HTTPFetch
import Postgres
import TestSupport
import Testing

@testable import Bookplate
@testable import Operations

/// Signatures, types of events, and addresses.
@Suite struct WebhookMessageTests {
    /// The example of the reference libraries.
    @Test func signatureIsThatOfTheSpecification() throws {
        let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let signature = secret.signature(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330,
            body: Array(#"{"test": 2432232314}"#.utf8))
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test func secretsHave32RandomBytesAndAreNotPrinted() throws {
        let secret = WebhookSecret.random()
        #expect(secret != .random())
        #expect(secret.text.hasPrefix("whsec_") && secret.text.utf8.count == 6 + 44)
        #expect(WebhookSecret(secret.text) == secret)
        #expect("\(secret)" == "WebhookSecret(not shown)")
    }

    @Test(arguments: ["", "whsec_", "whsec_AAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "whsec_$$$$"])
    func otherTextsAreNotSecrets(text: String) {
        #expect(WebhookSecret(text) == nil)
    }

    @Test func aSealedSecretBelongsToItsWebhook() {
        let (keys, id) = (SessionKeys.generate(), UUID.version7())
        let secret = WebhookSecret.random()
        let sealed = secret.sealed(for: id, keys)
        #expect(WebhookSecret(sealed: sealed, of: id, keys) == secret)
        #expect(WebhookSecret(sealed: sealed, of: .version7(), keys) == nil)
        #expect(WebhookSecret(sealed: sealed, of: id, .generate()) == nil)
    }

    /// After a loss of the key file, the operator gives each webhook a new secret.
    @Test func aNewSecretSignsAloneIfThePreviousOneCannotBeDecrypted() {
        let (keys, id) = (SessionKeys.generate(), UUID.version7())
        let (secret, previous) = (WebhookSecret.random(), WebhookSecret.random())
        func secrets(current: SessionKeys, previous previousKeys: SessionKeys) -> [WebhookSecret]? {
            WebhookTarget(
                url: "https://example.com", sealedSecret: secret.sealed(for: id, current),
                sealedPreviousSecret: previous.sealed(for: id, previousKeys)
            ).secrets(of: id, keys)
        }
        #expect(secrets(current: keys, previous: keys) == [secret, previous])
        #expect(secrets(current: keys, previous: .generate()) == [secret])
        #expect(secrets(current: .generate(), previous: keys) == nil)
    }

    @Test(arguments: [
        ("*", true), ("book.*", true), ("book.updated", true), ("progress_entry.created", true),
        ("cover.*", true), ("account.deleted", true), ("", false), (".*", false), ("book", false),
        ("book.", false), ("bo*", false), ("Book.*", false), ("webhook.test", false), ("**", false),
    ])
    func patternsSelectKnownTypes(pattern: String, isValid: Bool) {
        #expect(WebhookEventType.isPattern(pattern) == isValid)
    }

    /// The functions of the database that write the log contain the kinds and types of all entries.
    @Test func everyEntryOfTheLogsHasAType() async throws {
        let app = try await TestApp.start(catalog: [])
        let types = try await app.database.withConnection {
            try $0.query(
                #"""
                SELECT change_event_type(found.entry[2], found.entry[1]::change_kind)
                FROM pg_proc p
                CROSS JOIN LATERAL regexp_matches(p.prosrc, '''(CREATED|UPDATED|DELETED)'',\s*''([A-Z]\w+)''', 'g')
                    AS found (entry)
                WHERE p.pronamespace = 'public'::regnamespace
                UNION
                SELECT change_event_type(found.entry[1], c)
                FROM pg_proc p
                CROSS JOIN LATERAL regexp_matches(p.prosrc, '\mchange,\s*''([A-Z]\w+)''', 'g') AS found (entry)
                CROSS JOIN unnest(enum_range(NULL::change_kind)) c
                WHERE p.pronamespace = 'public'::regnamespace
                UNION
                SELECT cover_event_type(s::text)
                FROM unnest(enum_range(NULL::cover_status)) s
                ORDER BY 1
                """#
            ).decode(String.self)
        }
        #expect(types.count > 20)
        #expect(Set(types).union(["account.deleted"]) == Set(WebhookEventType.all))
    }

    @Test(
        arguments: [
            ("https://hooks.example.com/a?b=c#d", false, "https://hooks.example.com/a?b=c"),
            ("http://hooks.example.com/", false, nil),
            ("http://hooks.example.com/", true, "http://hooks.example.com/"),
            ("https://user:secret@example.com/", true, nil),
            ("https://user@example.com/", true, nil),
            ("ftp://example.com/", true, nil), ("example.com", true, nil), ("", true, nil),
            ("https://10.0.0.1/", true, nil), ("https://[::1]/", true, nil),
            ("https://169.254.169.254/latest/meta-data", true, nil),
            ("https://167772161/", true, nil),
            ("https://0xa.1/", true, nil), ("https://[::ffff:10.0.0.1]/", true, nil),
            ("https://192.168.1.1:8443/", true, nil),
            ("https://8.8.8.8/", false, "https://8.8.8.8/"),
            ("https://8.8.8.8:8443/", false, nil),
            ("http://127.0.0.1:8080/", true, "http://127.0.0.1:8080/"),
            ("https://example.com/" + String(repeating: "x", count: 2000), true, nil),
        ] as [(String, Bool, String?)])
    func addressesAreChecked(url: String, allowsPlainHTTP: Bool, expected: String?) throws {
        let policy = FetchPolicy(
            userAgent: "test", allowed: try FetchAllowList(parsing: "127.0.0.1"))
        let checked = try? WebhookRecord.checkedAddress(
            url, allowsPlainHTTP: allowsPlainHTTP, policy: policy)
        #expect(checked == expected)
    }
}
