import Basics
import Identity
import Postgres
import Requests

/// The page of a request. It shows the requested scopes and the code, and sends the browser back to the app after the
/// decision.
extension OAuthEndpoint {
    /// A request of the authorization code grant.
    private struct Stored: RowDecodable {
        let tenantID: UUID
        let clientName: String
        let isSelfRegistered: Bool
        let code: UserCode
        let scopes: [AccessScope]
        let redirectURI: String
        let state: String?
        let browserHash: [UInt8]
        /// nil before the reader has decided.
        let isAllowed: Bool?
        /// Whether the request has expired, or has led to tokens.
        let isFinished: Bool

        init?(_ row: inout RowReader) {
            guard let tenantID = row.uuid(), let clientName = row.text() else { return nil }
            self.tenantID = tenantID
            self.clientName = clientName
            isSelfRegistered = row.bool() == true
            guard let code = row.text().flatMap({ UserCode($0) }), let scopes = row.texts(),
                let redirectURI = row.text()
            else { return nil }
            self.code = code
            self.scopes = scopes.compactMap { AccessScope(rawValue: $0) }
            self.redirectURI = redirectURI
            state = row.text()
            browserHash = row.bytes() ?? []
            isAllowed = row.bool()
            isFinished = row.bool() == true
        }

        static let find = TypedStatement<Self>(
            """
            SELECT
                tenant_id, client_name, is_self_registered, user_code, scopes, redirect_uri, state, browser_hash,
                is_allowed, is_finished
            FROM oauth_request_of_browser($1)
            """)
    }

    /// A stored request that this browser has started: its cookie matches.
    private struct Found {
        let id: UUID
        let stored: Stored
        let call: Call
        let target: RedirectTarget
        /// The anti-forgery token of the form that cancels the request. Pages of other sites do not know it.
        let formToken: String

        var prompt: OAuthPage.Prompt {
            OAuthPage.Prompt(
                id: id, client: stored.clientName, app: call.tenant.name,
                isSelfRegistered: stored.isSelfRegistered, code: stored.code,
                scopes: stored.scopes, host: RedirectURI(stored.redirectURI)?.host,
                formToken: formToken)
        }
    }

    /// - Throws: `.notFound` if there is no such request, or if another browser has started it.
    private func find(
        _ text: Substring, _ request: OAuthRequest
    ) async throws(OAuthError) -> Found {
        guard let id = UUID(text), let secret = request.cookie(Self.cookieName) else {
            throw .notFound
        }
        let context = makeContext(request)
        let stored: [Stored]
        do throws(BookplateError) {
            stored = try await context.anonymous(isReadOnly: true) {
                $0.append(Stored.find, .of(id))
            }
        } catch {
            throw OAuthError(error)
        }
        guard let stored = stored.first,
            constantTimeEqual(sha256(secret.utf8), stored.browserHash)
        else { throw .notFound }
        let call = try await call(request, slug: nil, id: stored.tenantID)
        return Found(
            id: id, stored: stored, call: call,
            target: RedirectTarget(
                uri: stored.redirectURI, state: stored.state, issuer: issuer(call.tenant)),
            formToken: lowercaseHex(sha256("form:\(secret)".utf8)))
    }

    /// Responds to `GET /oauth/requests/ID` with the page, or a redirect to the app after the decision. The script of the
    /// page polls `GET /oauth/requests/ID/status`, which is a JSON object.
    package func requestPage(_ request: OAuthRequest) async -> OAuthResponse {
        let page = OAuthPage(request, basePath: basePath)
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false)
        do throws(OAuthError) {
            try charge(request)
            guard let id = parts.first, parts.count == 1 || parts.dropFirst() == ["status"] else {
                throw .notFound
            }
            let found = try await find(id, request)
            let isPending = found.stored.isAllowed == nil && !found.stored.isFinished
            if parts.count == 2 {
                return .json([.init("isPending", .boolean(isPending))])
            }
            if isPending { return page.prompt(found.prompt, isRepeated: !request.query.isEmpty) }
            if found.stored.isAllowed == true, let code = try await code(found) {
                return .redirect(to: found.target.url(code: code))
            }
            if found.stored.isAllowed == false, !found.stored.isFinished {
                return .redirect(to: found.target.url(error: .accessDenied))
            }
            return page.ended(found.prompt, link: found.target.url(error: .accessDenied))
        } catch {
            return page.failed(error)
        }
    }

    /// Returns a new authorization code; nil if the app has tokens already, or the request has expired.
    private func code(_ found: Found) async throws(OAuthError) -> OAuthSecret? {
        let code = OAuthSecret(.authorizationCode)
        var parameters = Parameters.of(found.id)
        parameters.append(bytea: code.hash)
        parameters.append(int32: Self.codeSeconds)
        return try await found.call.first(Self.setCode, parameters) == true ? code : nil
    }

    private static let setCode = TypedStatement<Bool>(
        "SELECT coalesce(set_oauth_code($1, $2, $3), false)")

    /// Responds to `POST /oauth/requests/ID/cancel`, the form with which a reader cancels a request.
    package func cancel(_ request: OAuthRequest) async -> OAuthResponse {
        let page = OAuthPage(request, basePath: basePath)
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false)
        do throws(OAuthError) {
            try charge(request)
            guard parts.count == 2, parts[1] == "cancel" else { throw .notFound }
            let found = try await find(parts[0], request)
            let token = try request.formFields()["token"] ?? ""
            guard constantTimeEqual(Array(token.utf8), Array(found.formToken.utf8)) else {
                throw .invalidRequest("The form does not belong to this page.")
            }
            try await found.call.run(Self.cancelRequest, .of(found.id))
            return page.canceled(found.prompt, link: found.target.url(error: .accessDenied))
        } catch {
            return page.failed(error)
        }
    }

    private static let cancelRequest = Statement("SELECT cancel_oauth_request($1)")

    // MARK: - Files of the pages

    package static var style: String {
        String(decoding: PackageResources.oauth_css, as: UTF8.self)
    }

    package static var script: String {
        String(decoding: PackageResources.oauth_js, as: UTF8.self)
    }
}
