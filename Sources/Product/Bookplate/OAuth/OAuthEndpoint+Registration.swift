import GraphQL
import Identity
import Postgres
import Requests

/// Dynamic client registration: apps register themselves, if the tenant allows it.
///
/// Spec: RFC 7591, section 3
extension OAuthEndpoint {
    /// The maximum number of apps of a tenant that registered themselves. At the limit, a new app replaces the oldest one
    /// that is more than a day old, and has neither access nor open requests.
    private static let clientsMax: Int32 = 1_000

    package func register(_ request: OAuthRequest) async -> OAuthResponse {
        await respond(request) { call throws(OAuthError) in
            guard call.tenant.allowsRegistration else { throw .notFound }
            let registration = try Registration(request)
            do throws(BookplateError) {
                try call.services.rates.takeRegistration(from: request.address)
            } catch {
                throw OAuthError(error)
            }
            let (id, secret) = (UUID.version7(), OAuthSecret(.clientSecret))
            var parameters = Parameters.of(id, call.tenant.id)
            parameters.append(text: registration.name)
            parameters.append(texts: registration.redirectURIs)
            parameters.append(texts: registration.scopes.map(\.rawValue))
            parameters.append(bool: registration.grantTypes.contains(.device))
            parameters.append(bytea: registration.isPublic ? nil : secret.hash)
            parameters.append(int32: Self.clientsMax)
            guard try await call.first(Self.register, parameters) == true else {
                throw .invalidMetadata("Too many apps have registered themselves. Try again later.")
            }
            return .json(
                registration.members(id, registration.isPublic ? nil : secret), status: 201)
        }
    }

    private static let register = TypedStatement<Bool>(
        "SELECT register_oauth_client($1, $2, $3, $4, $5::text[]::access_scope[], $6, $7, $8)")

    /// The metadata of an app that registers itself.
    private struct Registration {
        let name: String
        let redirectURIs: [String]
        let scopes: [AccessScope]
        let grantTypes: [GrantType]
        /// The `token_endpoint_auth_method`.
        let method: String

        var isPublic: Bool { method == "none" }

        init(_ request: OAuthRequest) throws(OAuthError) {
            guard request.hasContentType("application/json"),
                let json = try? parseJSON(
                    request.body, limits: JSONLimits(bytesMax: bodyBytesMax, nestingMax: 8)),
                case .object = json
            else { throw .invalidMetadata("Send the metadata as a JSON object.") }
            method = json["token_endpoint_auth_method"]?.string ?? "client_secret_basic"
            guard ["none", "client_secret_basic", "client_secret_post"].contains(method) else {
                throw .invalidMetadata("This token_endpoint_auth_method is not supported.")
            }
            let names =
                try Self.texts(json, "grant_types") ?? [GrantType.authorizationCode.rawValue]
            grantTypes = GrantType.allCases.filter { names.contains($0.rawValue) }
            // The response says which values remain (RFC 7591, section 3.2.1).
            let needsURI = grantTypes.contains(.authorizationCode)
            guard needsURI || grantTypes.contains(.device) else {
                throw .invalidMetadata("None of the grant_types is supported.")
            }
            guard try Self.texts(json, "response_types")?.contains("code") ?? true || !needsURI
            else {
                throw .invalidMetadata("The only response type is code.")
            }
            redirectURIs = try Self.texts(json, "redirect_uris") ?? []
            let uris = redirectURIs.compactMap { RedirectURI($0) }
            guard uris.count == redirectURIs.count, uris.count <= OAuthClient.redirectURIsMax,
                uris.isEmpty != needsURI
            else {
                throw .invalidRedirectURI(
                    "The authorization code grant needs 1 to \(OAuthClient.redirectURIsMax) redirect_uris: https, http on the own machine, or a private scheme with a period."
                )
            }
            scopes =
                try OAuthClient.scopes(json["scope"]?.string) ?? AccessScope.allCases
            name = try Self.name(json["client_name"], uris)
        }

        /// Returns the name to show to readers. An app without one has that of its redirect URIs, if they agree.
        private static func name(
            _ given: Value?, _ uris: [RedirectURI]
        ) throws(OAuthError) -> String {
            switch given {
            case nil, .null?, .string("")?:
                let names = Set(uris.compactMap(\.appName))
                let name = names.count == 1 ? names.first : nil
                return name.flatMap { OAuthClient.isPresentable(name: $0) ? $0 : nil }
                    ?? "Unnamed app"
            case .string(let name)? where OAuthClient.isPresentable(name: name): return name
            default:
                throw .invalidMetadata(
                    "The member client_name must have at most \(OAuthClient.nameCharactersMax) printable characters."
                )
            }
        }

        /// Returns a list of texts; nil if it is absent.
        private static func texts(
            _ json: Value, _ name: String
        ) throws(OAuthError) -> [String]? {
            guard let value = json[name], value != .null else { return nil }
            let texts = value.list?.compactMap(\.string) ?? []
            guard texts.count == value.list?.count else {
                throw .invalidMetadata("The member \(name) must be a list of texts.")
            }
            return texts
        }

        func members(_ id: UUID, _ secret: OAuthSecret?) -> [Value.Member] {
            func list(_ texts: [String]) -> Value { .list(texts.map { .string($0) }) }
            var members: [Value.Member] = [
                .init("client_id", .string(id.description)),
                .init("client_id_issued_at", .int(Int(unixSecondsNow()))),
            ]
            if let secret {
                members += [
                    .init("client_secret", .string(secret.text)),
                    .init("client_secret_expires_at", .int(0)),
                ]
            }
            return members + [
                .init("client_name", .string(name)), .init("redirect_uris", list(redirectURIs)),
                .init("grant_types", list(grantTypes.map(\.rawValue))),
                .init(
                    "response_types", list(grantTypes.contains(.authorizationCode) ? ["code"] : [])),
                .init("token_endpoint_auth_method", .string(method)),
                .init("scope", .string(OAuthClient.text(of: scopes))),
            ]
        }
    }
}
