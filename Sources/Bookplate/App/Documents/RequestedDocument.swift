import GraphQL
import Identity
import Postgres

/// How a request says which document it wants.
package struct RequestedDocument: Sendable {
    /// The text itself.
    package var query: String?
    /// The id of a trusted document, or the hash of any known one: `<hex>` or `sha256:<hex>`.
    package var documentID: String?
    /// `extensions.persistedQuery`: `{version: 1, sha256Hash}`.
    package var persistedQuery: Value?

    package init(query: String? = nil, documentID: String? = nil, persistedQuery: Value? = nil) {
        self.query = query
        self.documentID = documentID
        self.persistedQuery = persistedQuery.flatMap { $0.isNull ? nil : $0 }
    }

    /// The hash in lower-case hexadecimal digits; nil where none is given.
    ///
    /// - Throws: An error for the client where the extension is not of the protocol's first version.
    func hash() throws(RequestErrors) -> String? {
        guard let persistedQuery else { return nil }
        guard persistedQuery["version"]?.int == 1 else {
            throw .badInput("Persisted queries are known in version 1 only.")
        }
        let hash = persistedQuery["sha256Hash"]?.string ?? ""
        guard isHash(hash) else {
            throw .badInput("The sha256Hash of a persisted query has 64 hexadecimal digits.")
        }
        return hash.lowercased()
    }
}

/// The id or the hash by which a request names a document.
///
/// Spec: GraphQL over HTTP, appendix A: a document identifier is `sha256:` and the hash in hexadecimal digits, or a custom
/// one without a colon.
struct DocumentName: Hashable {
    private static let prefix = "sha256:"

    /// As the client sent it.
    let text: String
    /// The hash in lower-case hexadecimal digits, of `<hex>` and of `sha256:<hex>`; nil for any other name.
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

/// The text that a request means.
struct DocumentText {
    let bytes: [UInt8]
    /// To register it by, once it has turned out to be valid; nil where there is nothing to register.
    var newHash: String?
    /// Whether the request only named it.
    var isNamed = false
    /// Whether an app was published with it; nil where nobody asked.
    var isTrusted: Bool?
}

extension RequestErrors {
    static func badInput(_ message: String) -> RequestErrors {
        RequestErrors([
            GraphQLError(message, extensions: [.init("code", .string("BAD_USER_INPUT"))])
        ])
    }

    /// The client is to send the text along: the words that Apollo's clients look for.
    static let persistedQueryNotFound = RequestErrors([
        GraphQLError(
            "PersistedQueryNotFound",
            extensions: [.init("code", .string("PERSISTED_QUERY_NOT_FOUND"))])
    ])
}
