import GraphQL
import Requests

extension BookplateSchema {
    /// Returns the scopes of each operation of a document, whatever the values of its variables are.
    ///
    /// - Throws: The errors of a document that is not valid.
    package func scopes(ofDocument text: [UInt8]) async throws(RequestErrors) -> [OperationScopes] {
        let cache = DocumentCache(
            schema: schema, resolvers: resolvers, limits: .bookplate, errorCodes: .bookplate)
        return try await cache.document(text).scopes().map { operation, scopes in
            OperationScopes(
                name: operation.name?.value, kind: operation.kind.rawValue,
                scopes: AccessScope.names(in: scopes),
                isSessionOnly: scopes.contains(.sessionOnly))
        }
    }
}

/// The scopes that an operation needs.
package struct OperationScopes: Sendable, Equatable {
    package let name: String?
    package let kind: String
    /// Values of the enum `AccessScope`.
    package let scopes: [String]
    /// Whether personal access tokens cannot run the operation, whatever their scopes are.
    package let isSessionOnly: Bool

    package init(name: String?, kind: String, scopes: [String], isSessionOnly: Bool) {
        self.name = name
        self.kind = kind
        self.scopes = scopes
        self.isSessionOnly = isSessionOnly
    }
}
