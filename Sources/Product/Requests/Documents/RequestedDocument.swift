import GraphQL
import Identity
import Postgres

/// The parts of a request that identify its document.
package struct RequestedDocument: Sendable {
    /// The text of the document.
    package var query: String?
    /// The ID of a trusted document, or the hash of any registered one: `<hex>` or `sha256:<hex>`.
    package var documentID: String?
    /// `extensions.persistedQuery`: `{version: 1, sha256Hash}`.
    package var persistedQuery: Value?

    package init(query: String? = nil, documentID: String? = nil, persistedQuery: Value? = nil) {
        self.query = query
        self.documentID = documentID
        self.persistedQuery = persistedQuery.flatMap { $0.isNull ? nil : $0 }
    }

    /// Returns the hash of `persistedQuery` in lower-case hexadecimal digits; nil if there is none.
    ///
    /// - Throws: An error for the client if the extension is malformed or not version 1.
    func hash() throws(RequestErrors) -> String? {
        guard let persistedQuery else { return nil }
        guard persistedQuery["version"]?.int == 1 else {
            throw .badInput("Only version 1 of persisted queries is supported.")
        }
        let hash = persistedQuery["sha256Hash"]?.string ?? ""
        guard isHash(hash) else {
            throw .badInput("The sha256Hash of a persisted query must have 64 hexadecimal digits.")
        }
        return hash.lowercased()
    }
}

/// The ID or the hash with which a request identifies a document.
///
/// Spec: GraphQL over HTTP, appendix A: a document identifier is `sha256:` and the hash in hexadecimal digits, or a custom
/// identifier without a colon.
struct DocumentName: Hashable {
    private static let prefix = "sha256:"

    /// The identifier as the client has sent it.
    let text: String
    /// The hash in lowercase hexadecimal if the name is `<hex>` or `sha256:<hex>`; otherwise nil.
    let hash: String?

    init(_ text: String) {
        self.text = text
        let digits = text.hasPrefix(Self.prefix) ? text.dropFirst(Self.prefix.count) : text[...]
        hash = isHash(digits) ? digits.lowercased() : nil
    }
}

private func isHash(_ text: some StringProtocol) -> Bool {
    text.utf8.count == 64 && text.utf8.allSatisfy(isHexDigit)
}

private func isHexDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
        UInt8(ascii: "A")...UInt8(ascii: "F"):
        true
    default: false
    }
}

/// The text of the document that a request identifies.
struct DocumentText {
    let bytes: [UInt8]
    /// The hash to register the text by after it was validated; nil if it must not be registered.
    var newHash: String?
    /// Whether the request contained only the document's ID or hash.
    var isNamed = false
    /// Whether the document is trusted; nil if that was not checked.
    var isTrusted: Bool?
}

extension RequestErrors {
    package static func badInput(_ message: String) -> RequestErrors {
        RequestErrors([
            GraphQLError(
                message,
                extensions: [
                    .init("code", .string("BAD_USER_INPUT")), ErrorReason.invalidRequest,
                ])
        ])
    }

    /// Requests the client to send the text. Apollo's clients recognize this message.
    static let persistedQueryNotFound = RequestErrors([
        GraphQLError(
            "PersistedQueryNotFound",
            extensions: [.init("code", .string("PERSISTED_QUERY_NOT_FOUND"))])
    ])
}
