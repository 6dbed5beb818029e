import GraphQL
import Identity
import Postgres
import Requests

/// The verified input of a sign-in, or of `linkIdentity`.
struct IdentityInput: Sendable {
    let identity: VerifiedIdentity
    /// Apple's authorization code; empty if the client has sent none.
    let authorizationCode: String
    let displayName: String?

    /// Reads and verifies an input of the type `SignInInput`, which has exactly one field.
    ///
    /// - Throws: `.rateLimited`, `.badUserInput`, or an error of `Identities.verify`.
    init(_ input: Value?, _ request: RequestContext) async throws(BookplateError) {
        if let openID = input?["openID"] {
            try await self.init(openID: InputObject(openID), request)
        } else {
            try await self.init(apple: InputObject(input?["apple"]), request)
        }
    }

    /// Reads and verifies an input of the type `SignInWithAppleInput`.
    private init(apple input: InputObject, _ request: RequestContext) async throws(BookplateError) {
        try request.services.rates.takeSignIn(from: request.address)
        displayName = try Self.displayName(input)
        authorizationCode = input.text("authorizationCode") ?? ""
        guard authorizationCode.utf8.count <= AppleGrant.codeBytesMax else {
            throw .badUserInput(
                field: "authorizationCode", .init(.invalidCredential))
        }
        identity = try await request.services.accounts.identities.verify(
            input.text("identityToken") ?? "", nonce: input.text("nonce"),
            among: try await request.services.accounts.tenants.all(for: request),
            requestID: request.requestID)
    }

    /// Reads and verifies an input of the type `SignInWithOpenIDInput`.
    private init(openID input: InputObject, _ request: RequestContext) async throws(BookplateError)
    {
        try request.services.rates.takeSignIn(from: request.address)
        displayName = try Self.displayName(input)
        authorizationCode = ""
        identity = try await request.services.accounts.identities.verify(
            input.text("identityToken") ?? "", of: input.text("provider") ?? "",
            nonce: input.text("nonce"),
            among: try await request.services.accounts.tenants.all(for: request),
            requestID: request.requestID)
    }

    private static func displayName(_ input: InputObject) throws(BookplateError) -> String? {
        try TextInput.optional(
            input.text("displayName"), field: "displayName",
            charactersMax: Sessions.displayNameCharactersMax)
    }

    /// Exchanges the authorization code at Apple, so that the app's access can be revoked later.
    func storeAppleGrant(for viewer: Viewer, _ request: RequestContext) async {
        guard !authorizationCode.isEmpty, identity.isFromApple else { return }
        await AppleGrant.exchangeAndStore(
            code: authorizationCode, identity, for: viewer, request)
    }
}

extension VerifiedIdentity {
    /// The tenant and the subject, for statements that set them for row-level security.
    var parameters: Parameters {
        var parameters = Parameters.of(tenant.id)
        parameters.append(text: subject)
        return parameters
    }
}
