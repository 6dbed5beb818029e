import Basics
import GraphQL
import Identity
import Postgres
import Requests

/// The authorization server of each tenant that has switched OAuth on: authorization codes with PKCE, the device grant, refresh,
/// revocation, and registration. Belongs to one event loop.
///
/// Readers have no passwords, so the pages do not ask readers to sign in. They show a code, which the reader enters in
/// the app of the tenant, where the reader is signed in. See `AuthorizationRequest` for the fields that this app uses.
///
/// Spec: draft-ietf-oauth-v2-1, RFC 6749, RFC 7009, RFC 7591, RFC 7636, RFC 8252, RFC 8414, RFC 8628, RFC 9207, RFC 9728
package final class OAuthEndpoint {
    package static let bodyBytesMax = 8192
    /// How long a request waits for the reader.
    static let requestSeconds: Int32 = 600
    static let codeSeconds: Int32 = 60
    static let accessTokenSeconds: Int32 = 3600
    /// How long a reader's permission lasts.
    static let grantDays: Int32 = 180
    static let pollSeconds = 5

    private let database: ConnectionPool
    private let services: Services
    /// The public URL of this server, without a slash at the end.
    let publicURL: String
    /// The path of the public URL, without a slash at the end.
    let basePath: String

    package init(database: ConnectionPool, services: Services, publicURL: String) {
        self.database = database
        self.services = services
        self.publicURL = publicURL
        let afterScheme = publicURL.firstRange(of: "://").map { publicURL[$0.upperBound...] }
        basePath = String((afterScheme ?? "").drop { $0 != "/" })
    }

    /// A request to the endpoint of a tenant.
    struct Call {
        let request: OAuthRequest
        let tenant: Tenant
        let context: RequestContext
        let services: Services

        /// Runs a statement and returns its first row.
        func first<Row: RowDecodable>(
            _ statement: TypedStatement<Row>, _ parameters: Parameters
        ) async throws(OAuthError) -> Row? {
            do throws(BookplateError) {
                let rows: [Row] = try await context.anonymous { $0.append(statement, parameters) }
                return rows.first
            } catch {
                throw OAuthError(error)
            }
        }

        func run(_ statement: Statement, _ parameters: Parameters) async throws(OAuthError) {
            do throws(BookplateError) {
                try await context.anonymous { $0.append(statement, parameters) }
            } catch {
                throw OAuthError(error)
            }
        }

        /// Runs work that checks secrets. If it fails because of a wrong secret, it counts as a sign-in from the address.
        func limitingGuesses<Value>(
            _ work: () async throws(OAuthError) -> Value
        ) async throws(OAuthError) -> Value {
            let rates = services.rates
            do throws(BookplateError) {
                try rates.takeSignIn(from: request.address)
            } catch {
                throw OAuthError(error)
            }
            do throws(OAuthError) {
                let value = try await work()
                rates.putBackSignIn(from: request.address)
                return value
            } catch {
                if !error.isFailedGuess { rates.putBackSignIn(from: request.address) }
                throw error
            }
        }
    }

    /// Finds the tenant of a request.
    ///
    /// - Parameter slug: The slug of the tenant; nil for the tenant with the ID.
    /// - Throws: `.notFound` if the tenant does not exist or has not switched OAuth on.
    func call(
        _ request: OAuthRequest, slug: Substring?, id: UUID? = nil
    ) async throws(OAuthError) -> Call {
        let context = makeContext(request)
        let tenants: [Tenant]
        do throws(BookplateError) {
            tenants = try await services.accounts.tenants.all(for: context)
        } catch {
            throw OAuthError(error)
        }
        let tenant = tenants.first { tenant in
            if let slug { tenant.slug == slug } else { tenant.id == id }
        }
        guard let tenant, tenant.allowsOAuth else { throw .notFound }
        return Call(request: request, tenant: tenant, context: context, services: services)
    }

    func makeContext(_ request: OAuthRequest) -> RequestContext {
        RequestContext(
            viewer: nil, database: database, services: services, requestID: request.requestID,
            address: request.address)
    }

    /// Charges a request to its address.
    func charge(_ request: OAuthRequest, units: Int = 1) throws(OAuthError) {
        guard let address = request.address,
            let seconds = services.environment.secondsToWait(from: address, units: units)
        else { return }
        throw OAuthError(.rateLimited(retryAfterSeconds: seconds))
    }

    /// Responds to a request of an app.
    func respond(
        _ request: OAuthRequest,
        _ work: (Call) async throws(OAuthError) -> OAuthResponse
    ) async -> OAuthResponse {
        do throws(OAuthError) {
            try charge(request)
            return try await work(try await call(request, slug: request.path))
        } catch {
            return error.response
        }
    }

    // MARK: - Metadata

    func issuer(_ tenant: Tenant) -> String { "\(publicURL)/oauth/\(tenant.slug)" }

    /// Returns the URL of an endpoint of a tenant.
    private func url(_ name: String, _ tenant: Tenant) -> String {
        "\(publicURL)/oauth/\(name)/\(tenant.slug)"
    }

    func verificationURL(_ tenant: Tenant) -> String { url("device", tenant) }

    /// The metadata of the tenant whose issuer has the path of the request.
    ///
    /// Spec: RFC 8414, section 3
    package func metadata(_ request: OAuthRequest) async -> OAuthResponse {
        do throws(OAuthError) {
            try charge(request)
            let prefix = "\(basePath)/oauth/".dropFirst()
            guard request.path.hasPrefix(prefix) else { throw .notFound }
            let call = try await call(request, slug: request.path.dropFirst(prefix.count))
            return .json(members(call.tenant))
        } catch {
            return error.response
        }
    }

    /// The metadata of a protected resource: the server, its tools at `/mcp`, or the tools of a tenant at `/mcp/SLUG`.
    ///
    /// Assistants read it to find the authorization servers at which a reader can sign in. Without a slug, these are the servers of
    /// all tenants.
    ///
    /// Spec: RFC 9728, section 3
    package func protectedResource(_ request: OAuthRequest) async -> OAuthResponse {
        do throws(OAuthError) {
            try charge(request)
            let path = request.path.isEmpty ? "" : "/\(request.path)"
            guard path.hasPrefix(basePath) else { throw .notFound }
            let resource = path.dropFirst(basePath.count)
            let parts = resource.split(separator: "/", omittingEmptySubsequences: false)
            // The first part is empty: it is before the first slash.
            let isServer = resource.isEmpty
            guard isServer || parts.prefix(2) == ["", "mcp"], parts.count <= 3 else {
                throw .notFound
            }
            let tenants: [Tenant]
            do throws(BookplateError) {
                tenants = try await services.accounts.tenants.all(for: makeContext(request))
            } catch {
                throw OAuthError(error)
            }
            let slug = parts.count == 3 ? parts[2] : nil
            let servers = tenants.filter { tenant in
                (isServer ? tenant.allowsOAuth : tenant.offersToolTokens)
                    && (slug == nil || tenant.slug == slug!)
            }
            guard !servers.isEmpty else { throw .notFound }
            return .json([
                .init("resource", .string(publicURL + resource)),
                .init("authorization_servers", .list(servers.map { .string(issuer($0)) })),
                .init(
                    "scopes_supported", .list(AccessScope.allCases.map { .string($0.oauthName) })),
                .init("bearer_methods_supported", .list([.string("header")])),
                .init("resource_name", .string(slug == nil ? "Bookplate" : servers[0].name)),
            ])
        } catch {
            return error.response
        }
    }

    private func members(_ tenant: Tenant) -> [Value.Member] {
        func list(_ texts: [String]) -> Value { .list(texts.map { .string($0) }) }
        let methods = list(["none", "client_secret_basic", "client_secret_post"])
        var members: [Value.Member] = [
            .init("issuer", .string(issuer(tenant))),
            .init("authorization_endpoint", .string(url("authorize", tenant))),
            .init("token_endpoint", .string(url("token", tenant))),
            .init("device_authorization_endpoint", .string(url("device_authorization", tenant))),
            .init("revocation_endpoint", .string(url("revoke", tenant))),
        ]
        if tenant.allowsRegistration {
            members.append(.init("registration_endpoint", .string(url("register", tenant))))
        }
        return members + [
            .init("scopes_supported", list(AccessScope.allCases.map(\.oauthName))),
            .init("response_types_supported", list(["code"])),
            .init("response_modes_supported", list(["query"])),
            .init("grant_types_supported", list(GrantType.allCases.map(\.rawValue))),
            .init("token_endpoint_auth_methods_supported", methods),
            .init("revocation_endpoint_auth_methods_supported", methods),
            .init("code_challenge_methods_supported", list(["S256"])),
            .init("authorization_response_iss_parameter_supported", .boolean(true)),
            .init("ui_locales_supported", list(OAuthTexts.all.map(\.language))),
        ]
    }
}

/// A way in which an app gets tokens. The raw value is its name in the protocol.
enum GrantType: String, CaseIterable {
    case authorizationCode = "authorization_code"
    case refreshToken = "refresh_token"
    case device = "urn:ietf:params:oauth:grant-type:device_code"
}
