import GraphQL
import Identity
import Postgres

/// Finds the text that a request means, on one event loop.
final class DocumentTexts {
    /// Why there is no text.
    enum Refusal: Error {
        case request(RequestErrors)
        case database(PostgresError)
    }

    private let policy: DocumentPolicy
    private let trusted: TrustedDocuments

    init(_ policy: DocumentPolicy, _ database: ConnectionPool) {
        self.policy = policy
        trusted = TrustedDocuments(database)
    }

    func text(of request: RequestedDocument) async throws(Refusal) -> DocumentText {
        let hash: String?
        do throws(RequestErrors) { hash = try request.hash() } catch { throw .request(error) }
        guard request.documentID == nil || request.query == nil && hash == nil else {
            throw .request(.badInput("Send a document or the id of one, not both."))
        }
        guard let query = request.query else {
            return try await named(DocumentName(request.documentID ?? hash ?? ""))
        }
        let bytes = Array(query.utf8)
        let found = hash != nil || policy.mode != .open ? lowercaseHex(sha256(bytes)) : nil
        if let hash, hash != found {
            throw .request(.badInput("The document does not have the sha256Hash that is given."))
        }
        var text = DocumentText(bytes: bytes, newHash: hash)
        guard policy.mode != .open, let found else { return text }
        let isTrusted = try await trustedText(DocumentName(found)) != nil
        guard isTrusted || policy.mode == .logged else {
            throw .request(
                RequestErrors([
                    GraphQLError(
                        "This server runs only the documents that its apps were published with.",
                        extensions: [.init("code", .string("FORBIDDEN"))])
                ]))
        }
        text.isTrusted = isTrusted
        if isTrusted { text.newHash = nil }
        return text
    }

    /// Keeps a valid text for those who will only name it.
    func register(_ text: DocumentText) {
        if let hash = text.newHash { policy.persisted.insert(text.bytes, hash: hash) }
    }

    /// The document that an id or a hash names.
    private func named(_ name: DocumentName) async throws(Refusal) -> DocumentText {
        if policy.mode != .onlyKnown, let hash = name.hash,
            let bytes = policy.persisted.text(of: hash)
        {
            return DocumentText(bytes: bytes, isNamed: true)
        }
        guard let bytes = try await trustedText(name) else {
            throw .request(.persistedQueryNotFound)
        }
        return DocumentText(bytes: bytes, isNamed: true, isTrusted: true)
    }

    private func trustedText(_ name: DocumentName) async throws(Refusal) -> [UInt8]? {
        do throws(PostgresError) { return try await trusted.text(name) } catch {
            throw .database(error)
        }
    }
}
