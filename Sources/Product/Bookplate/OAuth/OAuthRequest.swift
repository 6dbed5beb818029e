import Basics
import GraphQL
import Requests

/// A request to an endpoint of OAuth: the parts of the HTTP request that the endpoints use.
package struct OAuthRequest: Sendable {
    /// The path after the prefix of the route.
    let path: Substring
    let query: Substring
    let body: [UInt8]
    let contentType: String?
    let authorization: String?
    let cookie: String?
    let acceptLanguage: String?
    let address: RateKey?
    let requestID: String

    /// The maximum number of fields of a query or a form.
    private static let fieldsMax = 30

    package init(
        path: Substring, query: Substring?, body: [UInt8], contentType: String?,
        authorization: String?, cookie: String?, acceptLanguage: String?, address: RateKey?,
        requestID: String
    ) {
        self.path = path
        self.query = query ?? ""
        self.body = body
        self.contentType = contentType
        self.authorization = authorization
        self.cookie = cookie
        self.acceptLanguage = acceptLanguage
        self.address = address
        self.requestID = requestID
    }

    func queryFields() throws(OAuthError) -> FormFields { try Self.fields(query.utf8) }

    func formFields() throws(OAuthError) -> FormFields {
        guard hasContentType("application/x-www-form-urlencoded") else {
            throw .invalidRequest(
                "Send the parameters in the body, as application/x-www-form-urlencoded.")
        }
        return try Self.fields(body)
    }

    func hasContentType(_ type: String) -> Bool {
        let given = contentType?.prefix { $0 != ";" }.lowercased() ?? ""
        return given.split(separator: " ").first.map { $0 == type } ?? false
    }

    private static func fields(_ bytes: some Collection<UInt8>) throws(OAuthError) -> FormFields {
        let fields: FormFields
        do throws(FormFields.Problem) {
            fields = try FormFields(bytes, fieldsMax: fieldsMax)
        } catch {
            switch error {
            case .duplicate: throw .invalidRequest("A parameter was sent twice.")
            case .tooMany: throw .invalidRequest("At most \(fieldsMax) parameters are allowed.")
            case .invalidEscape, .notUTF8:
                throw .invalidRequest("The parameters are not encoded correctly.")
            }
        }
        guard !fields.hasNUL else {
            throw .invalidRequest("A parameter contains a NUL character.")
        }
        return fields
    }

    /// Returns a cookie. A cookie that was sent several times counts as none.
    func cookie(_ name: String) -> Substring? {
        let values = (cookie ?? "").split(separator: ";").compactMap { pair -> Substring? in
            let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            return parts.count == 2 && parts[0] == name ? parts[1] : nil
        }
        return values.count == 1 ? values[0] : nil
    }
}

/// The response of an endpoint of OAuth. No cache may store it.
package struct OAuthResponse: Sendable {
    package let status: Int
    package let contentType: String?
    package let body: [UInt8]
    /// Additional headers.
    package let headers: [(String, String)]

    private init(
        _ status: Int, _ contentType: String?, _ body: [UInt8], _ headers: [(String, String)]
    ) {
        self.status = status
        self.contentType = contentType
        self.body = body
        self.headers =
            [("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer")] + headers
    }

    static func json(
        _ members: [Value.Member], status: Int = 200, headers: [(String, String)] = []
    ) -> Self {
        var writer = ResponseWriter()
        writer.write(.object(members))
        return Self(status, "application/json", writer.bytes, headers)
    }

    static func empty(_ status: Int = 200, headers: [(String, String)] = []) -> Self {
        Self(status, nil, [], headers)
    }

    static func redirect(to url: String, headers: [(String, String)] = []) -> Self {
        empty(303, headers: [("Location", url)] + headers)
    }

    /// Returns a page. It loads only the style and the script of this server, and no other page can contain it.
    static func page(_ status: Int = 200, _ html: String, language: String) -> Self {
        Self(
            status, "text/html; charset=utf-8", Array(html.utf8),
            [
                (
                    "Content-Security-Policy",
                    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                        + "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
                ),
                ("X-Frame-Options", "DENY"), ("Content-Language", language),
                ("Vary", "Accept-Language"),
            ])
    }
}
