import GraphQL
import TestSupport
import Testing

@testable import Bookplate

@Suite struct ReaderLanguagesTests {
    private static let me = "{ me { languages } }"

    @Test(
        arguments: [
            (nil, []), ("", []), ("*", []), ("es", ["es"]), ("ES-mx", ["es"]),
            ("de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7", ["de", "en"]),
            ("en;q=0.5, es, *;q=0.1", ["es", "en"]), ("en;q=0.2,fr;q=0.2", ["en", "fr"]),
            ("zh-Hant-TW; q=0.3, eng", ["en", "zh"]), ("nb-NO, nn;q=0.9, no", ["no"]),
            ("es;q=0, en;q=0.001", ["en"]),
            ("es;q=2, de;q=-1, fr;q=nan, it;q=inf, pt;q=, nl;q=0.5;q=1, ja", ["ja", "nl"]),
            ("es;v=1, de;x", []), (",;,=,;q=1,-,e,es-,x-klingon,und,mul,12,ñ,es\u{0}", []),
            ("' OR 1=1, \u{202E}es, ١٢", []), (String(repeating: "es;", count: 2000), []),
            (String(repeating: "x,", count: 500) + "es", []),
            (
                "aa,bb,cc,dd,ee,ff,gg,hh,ii,jj,kk",
                ["aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh", "ii", "jj"]
            ),
        ] as [(String?, [String])])
    func headerIsReadByWeight(header: String?, languages: [String]) {
        #expect(ReaderLanguages.accepted(header) == languages)
    }

    @Test func firstSignInTakesTheLanguagesOfTheHeader() async throws {
        let app = try await TestApp.start(catalog: [])
        let reader = try await app.makeReader(acceptLanguage: "es-MX, en;q=0.5")
        #expect(try await reader.execute(Self.me)["me", "languages"] == ["es", "en"])
        // Later headers do not change them, and neither do other requests.
        _ = try await app.signIn(subject: reader.subject, acceptLanguage: "fr")
        _ = try await app.execute(Self.me, token: reader.token, acceptLanguage: "fr")
        #expect(try await reader.execute(Self.me)["me", "languages"] == ["es", "en"])
        _ = try await reader.execute(
            UserTests.update, ["input": ["languages": ["pt-BR", "German", "pt"]]])
        _ = try await app.signIn(subject: reader.subject, acceptLanguage: "fr")
        #expect(try await reader.execute(Self.me)["me", "languages"] == ["pt", "de"])
        // A reader without languages gets those of the next sign-in.
        _ = try await reader.execute(UserTests.update, ["input": ["languages": .null]])
        #expect(try await reader.execute(Self.me)["me", "languages"] == [])
        _ = try await app.signIn(subject: reader.subject, acceptLanguage: "fr")
        #expect(try await reader.execute(Self.me)["me", "languages"] == ["fr"])
    }

    @Test func guestKeepsItsLanguagesWhenItBecomesAnAccount() async throws {
        let app = try await TestApp.start(catalog: [])
        try await app.allowGuests()
        let guest = try await app.makeGuest(acceptLanguage: "es")
        #expect(try await guest.execute(Self.me)["me", "languages"] == ["es"])
        let token = app.identityToken(subject: "guest.\(guest.id.string ?? "")")
        let account = try TestReader(
            app, "", try await app.signIn(token: token, as: guest, acceptLanguage: "fr"))
        #expect(account.id == guest.id)
        #expect(try await account.execute(Self.me)["me", "languages"] == ["es"])
    }

    private static let signIn = """
        mutation($token: String!, $zone: String, $languages: [String!]) {
          signIn(
            input: {apple: {identityToken: $token}}, timeZone: $zone, languages: $languages
          ) { accessToken user { id timeZone languages } }
        }
        """

    @Test func signInTakesTheSettingsOfTheDevice() async throws {
        let app = try await TestApp.start(catalog: [])
        func signIn(_ zone: Value, _ languages: Value) async throws -> [Value?] {
            let response = try await app.execute(
                Self.signIn,
                [
                    "token": .string(app.identityToken(subject: "a")), "zone": zone,
                    "languages": languages,
                ], acceptLanguage: "fr")
            return [
                response["signIn", "user", "timeZone"], response["signIn", "user", "languages"],
            ]
        }
        // Unknown names are ignored.
        #expect(try await signIn("Mars/Olympus", ["x-klingon", "\u{0}"]) == ["UTC", ["fr"]])
        try await app.database.execute("UPDATE users SET languages = '{}'")
        let long = Value.string(String(repeating: "x", count: 10_000))
        #expect(try await signIn(long, [long]) == ["UTC", ["fr"]])
        #expect(try await signIn("a\u{0}", []) == ["UTC", ["fr"]])
        try await app.database.execute("UPDATE users SET languages = '{}'")
        #expect(
            try await signIn("europe/berlin", ["de-AT", "en-GB", "de"])
                == ["Europe/Berlin", ["de", "en"]])
        // A device does not change the settings of the account.
        #expect(
            try await signIn("Asia/Tokyo", ["ja"]) == ["Europe/Berlin", ["de", "en"]])
    }

    @Test func guestTakesTheSettingsOfTheDevice() async throws {
        let app = try await TestApp.start(catalog: [])
        try await app.allowGuests()
        let response = try await app.execute(
            """
            mutation($app: String!) {
              signInAsGuest(app: $app, timeZone: "Asia/Calcutta", languages: ["hi", "en"]) {
                user { timeZone languages }
              }
            }
            """, ["app": .string(TestApp.Tenant.alpha.audience)], acceptLanguage: "fr")
        #expect(
            response["signInAsGuest", "user"]
                == ["timeZone": "Asia/Kolkata", "languages": ["hi", "en"]])
    }
}
