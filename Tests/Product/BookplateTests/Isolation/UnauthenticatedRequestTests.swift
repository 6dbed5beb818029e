import GraphQL
import GraphQLServing
import Identity
import Logging
import Postgres
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// Requests without a valid token can only sign in or use introspection. All other fields return the same error before the
/// input is validated and before the database is used.
@Suite struct UnauthenticatedRequestTests {
    static let app = Shared { try await TestApp.start() }

    static let publicFields: Set = ["signIn", "refreshSession"]

    /// A request for each root field, with only its required arguments.
    static let probes: [(field: String, query: String)] = {
        guard let schema = try? BookplateSchema(sdl: BookplateSchema.text).schema else { return [] }
        func sample(_ type: TypeReference) -> String {
            if case .list = type.nullable { return "[\(sample(type.listItem ?? type))]" }
            switch schema.type(named: type.namedType)?.kind {
            case .enumeration(let values): return values.first?.name ?? ""
            case .inputObject(let input):
                let fields =
                    input.isOneOf
                    ? input.fields.filter { ["url", "apple", "year"].contains($0.name) }
                    : input.fields.filter { $0.type.isNonNull && $0.defaultValue == nil }
                return
                    "{\(fields.map { "\($0.name): \(sample($0.type))" }.joined(separator: ", "))}"
            default:
                if type.namedType == "Upload" { return "\"upload:0\"" }
                return type.namedType == "Int" ? "1" : "\"x\""
            }
        }
        return [("query", schema.queryType), ("mutation", schema.mutationType)].flatMap {
            kind, root in
            // A guest and who follows a link need no token.
            (root?.fieldsType?.fields ?? []).filter {
                !["signInAsGuest", "shared"].contains($0.name)
            }.map { field in
                let needed = field.arguments.filter { $0.type.isNonNull }
                let arguments = needed.map { "\($0.name): \(sample($0.type))" }.joined(
                    separator: ", ")
                let isLeaf = schema.type(named: field.type.namedType)?.isLeaf == true
                return (
                    field.name,
                    "\(kind) { \(field.name)\(needed.isEmpty ? "" : "(\(arguments))")"
                        + "\(isLeaf ? "" : " { __typename }") }"
                )
            }
        }
    }()

    static let tokens = Shared {
        let app = try await UnauthenticatedRequestTests.app()
        let reader = try await app.makeReader()
        var good = try AccessToken.verify(reader.token, keys: app.keys, now: unixSecondsNow())
        let foreign = AccessToken.issue(good, keys: SessionKeys.generate())
        good.issuedAt -= 7200
        good.expiresAt = unixSecondsNow() - 1
        return [
            nil, "", "x", "a.b.c", reader.refreshToken, AccessToken.issue(good, keys: app.keys),
            foreign,
            String(reader.token.dropLast(2)), app.identityToken(subject: "subject"),
        ]
    }

    @Test func probesIncludeTheFields() {
        #expect(Self.probes.count >= 25)
        #expect(Set(Self.probes.map(\.field)).isSuperset(of: Self.publicFields))
    }

    @Test(arguments: probes.map(\.query).indices)
    func onlyPublicFieldsCanBeUsed(index: Int) async throws {
        let probe = Self.probes[index]
        for token in try await Self.tokens() {
            let response = try await Self.app().execute(probe.query, token: token)
            #expect(!response.isRequestError, "\(response.json)")
            #expect(response.code == "UNAUTHENTICATED", "\(probe.query): \(response.json)")
            #expect(response.message == "Sign in and try again.")
            #expect(response.errors.count == 1)
            if !Self.publicFields.contains(probe.field) {
                #expect(response.statements == 0, "\(probe.query) has used the database")
            }
        }
    }

    /// The token is checked before the input.
    @Test(arguments: [
        "{ feed(first: 0) { nodes { id } } }", #"{ feed(after: "x") { nodes { id } } }"#,
        #"{ feed(genres: ["Nothing"]) { nodes { id } } }"#, "{ nodes(ids: []) { id } }",
        #"mutation { createShelf(input: {name: ""}) { id } }"#,
        #"mutation { createShelf(input: {id: "x", name: "x"}) { id } }"#,
        "mutation { createBook(input: {}) { id } }",
        "mutation { createBooks(inputs: []) { book { id } } }",
        #"mutation { updateBook(id: "x", input: {title: null}) { id } }"#,
        #"mutation { deleteShelf(id: "x", input: {books: MOVE}) { id } }"#,
        #"mutation { undoSwipe(input: {cardId: "x"}) { card { id } } }"#,
        #"mutation { reviewBook(id: "x", input: {rating: 9}) { id } }"#,
        #"mutation { updateProfile(input: {displayName: "\u0000"}) { id } }"#,
        #"mutation { deleteAccount(confirm: "") { id } }"#,
        "mutation { recordSwipes(inputs: []) { recorded } }",
        "mutation { signOut(everywhere: true) { endedSessions } }",
    ])
    func invalidInputWithoutATokenIsUnauthenticated(query: String) async throws {
        let response = try await Self.app().execute(query)
        #expect(response.code == "UNAUTHENTICATED", "\(response.json)")
        #expect(response.statements == 0)
    }

    @Test func introspectionNeedsNoToken() async throws {
        let response = try await Self.app().execute(
            #"{ __typename __schema { queryType { name } } __type(name: "Book") { kind } }"#)
        #expect(
            response.json == [
                "data": [
                    "__typename": "Query", "__schema": ["queryType": ["name": "Query"]],
                    "__type": ["kind": "OBJECT"],
                ]
            ])
        #expect(response.statements == 0)
    }

    /// A correctly signed token with another user's session can only be created with a stolen key. The database rejects it.
    @Test func tokenWithAnotherUsersSessionIsRejected() async throws {
        let app = try await Self.app()
        let (reader, other) = (try await app.makeReader(), try await app.makeReader(.beta))
        let now = unixSecondsNow()
        let own = try AccessToken.verify(reader.token, keys: app.keys, now: now)
        let foreign = try AccessToken.verify(other.token, keys: app.keys, now: now)
        var claims = own
        claims.sessionID = foreign.sessionID
        #expect(
            try await app.execute("{ me { id } }", token: AccessToken.issue(claims, keys: app.keys))
                .code
                == "UNAUTHENTICATED")
        // A token with the own session and another tenant does not give access to that tenant.
        claims = own
        claims.tenantID = foreign.tenantID
        let response = try await app.execute(
            "{ me { id } }", token: AccessToken.issue(claims, keys: app.keys))
        #expect(response["me"] == nil)
        #expect(!response.errors.isEmpty)
    }

    @Test func readOnlyRequestsRejectMutations() async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader()
        let response = try await app.execute(
            #"mutation { createShelf(input: {name: "By GET"}) { id } }"#, token: reader.token,
            isReadOnly: true)
        #expect(response.refusal == .mutationInReadOnlyRequest)
        #expect(response.statements == 0)
        #expect(
            try await reader.requireValue("{ me { shelves { id } } }", .null, "me", "shelves") == []
        )
    }

    @Test func queriesCannotWrite() async throws {
        let app = try await Self.app()
        let reader = try await app.makeReader()
        let claims = try AccessToken.verify(reader.token, keys: app.keys, now: unixSecondsNow())
        let error = await Task(executorPreference: app.pool.executor) {
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let accounts = AccountServices(
                keyring: SessionKeyring(app.keys), issuers: [], keySets: [:], logger: logger)
            let services = Services(
                accounts: accounts, covers: app.covers,
                webhooks: WebhookSender(fetcher: app.covers.fetcher, allowsPlainHTTP: true),
                hub: app.hub, logger: logger)
            let request = RequestContext(
                viewer: Viewer(claims), database: app.pool, services: services, requestID: "test")
            let pending = request.query(
                Statement("UPDATE users SET display_name = 'written'"), Parameters())
            await request.flush()
            do throws(BookplateError) {
                _ = try pending.rows()
                return BookplateError?.none
            } catch {
                return error
            }
        }.value
        // The code of a database that became a standby.
        #expect(error == .serviceUnavailable(retryAfterSeconds: 1, outcome: .notDone))
        #expect(
            try await reader.requireValue("{ me { id displayName } }", .null, "me") == [
                "id": reader.id, "displayName": .null,
            ])
    }
}
