import Basics
import GraphQL
import Identity
import Postgres

/// Finds the text of the document that a request identifies. Belongs to one event loop.
final class DocumentTexts {
    /// The reason why no text is returned.
    enum Refusal: Error {
        case request(RequestErrors)
        case database(PostgresError)
    }

    private let policy: DocumentPolicy
    private let trusted: TrustedDocuments
    private let shared: SharedDocuments

    init(_ policy: DocumentPolicy, _ database: ConnectionPool) {
        self.policy = policy
        trusted = TrustedDocuments(database)
        shared = SharedDocuments(database)
    }

    func text(of request: RequestedDocument) async throws(Refusal) -> DocumentText {
        let hash = try mappingError(Refusal.request) { () throws(RequestErrors) in
            try request.hash()
        }
        guard request.documentID == nil || request.query == nil && hash == nil else {
            throw .request(.badInput("Send either a document or a document ID, not both."))
        }
        guard let query = request.query else {
            return try await identified(by: DocumentName(request.documentID ?? hash ?? ""))
        }
        let bytes = Array(query.utf8)
        let found = hash != nil || policy.mode != .open ? lowercaseHex(sha256(bytes)) : nil
        if let hash, hash != found {
            throw .request(
                .badInput(
                    "`sha256Hash` is not the SHA-256 hash of `query`. Hash exactly the text that you send."
                ))
        }
        var text = DocumentText(bytes: bytes, newHash: hash)
        guard policy.mode != .open, let found else { return text }
        let isTrusted = try await trustedText(DocumentName(found)) != nil
        guard isTrusted || policy.mode == .logged else {
            throw .request(
                RequestErrors([
                    GraphQLError(
                        "This server executes only trusted documents, which the operator has registered.",
                        extensions: [.init("code", .string("FORBIDDEN"))])
                ]))
        }
        text.isTrusted = isTrusted
        if isTrusted { text.newHash = nil }
        return text
    }

    /// Whether a text is one of the trusted documents with the given hashes.
    func isTrusted(
        _ text: DocumentText, among hashes: Set<String>
    ) async throws(Refusal) -> Bool {
        let hash = lowercaseHex(sha256(text.bytes))
        guard hashes.contains(hash) else { return false }
        return try await trustedText(DocumentName(hash)) != nil
    }

    /// Registers a valid text, so that later requests can contain only its hash.
    func register(_ text: DocumentText) {
        guard let hash = text.newHash else { return }
        let isNew = policy.persisted.insert(text.bytes, hash: hash)
        if isNew { shared.add(text.bytes, hash: hash) }
    }

    /// Returns the document with an ID or a hash.
    private func identified(
        by name: DocumentName
    ) async throws(Refusal) -> DocumentText {
        if policy.mode != .onlyKnown, let hash = name.hash,
            let bytes = policy.persisted.text(of: hash)
        {
            return DocumentText(bytes: bytes, isNamed: true)
        }
        if let bytes = try await trustedText(name) {
            return DocumentText(bytes: bytes, isNamed: true, isTrusted: true)
        }
        guard policy.mode != .onlyKnown, let hash = name.hash,
            let bytes = await sharedText(hash)
        else { throw .request(.persistedQueryNotFound) }
        policy.persisted.insert(bytes, hash: hash)
        return DocumentText(bytes: bytes, isNamed: true)
    }

    /// Returns nil also if the text cannot be read: the client then sends it again.
    private func sharedText(_ hash: String) async -> [UInt8]? {
        try? await shared.text(hash)
    }

    private func trustedText(_ name: DocumentName) async throws(Refusal) -> [UInt8]? {
        try await mappingError(Refusal.database) { () async throws(PostgresError) in
            try await trusted.text(name)
        }
    }
}
