import Postgres
import Requests

/// The pages of OAuth as HTML, in a language that the browser prefers. They work without scripts.
///
/// Names of apps and all parameters are escaped. The element `bdi` isolates the direction of a name from that of the
/// text.
struct OAuthPage {
    private let texts: OAuthTexts
    private let basePath: String

    init(_ request: OAuthRequest, basePath: String) {
        texts = .preferred(by: request.acceptLanguage)
        self.basePath = basePath
    }

    /// A request that waits for the reader.
    struct Prompt {
        let id: UUID
        /// The name of the app that asks.
        let client: String
        /// The name of the tenant, whose app the reader uses.
        let app: String
        let isSelfRegistered: Bool
        let code: UserCode
        let scopes: [AccessScope]
        /// The host to which the browser returns; nil if it opens an app.
        let host: String?
        let formToken: String
    }

    /// - Parameter isRepeated: Whether the reader has followed the link to continue before the decision.
    func prompt(_ prompt: Prompt, isRepeated: Bool) -> OAuthResponse {
        let names = ["client": prompt.client, "app": prompt.app, "host": prompt.host ?? ""]
        let path = "\(basePath)/oauth/requests/\(prompt.id)"
        let scopes = prompt.scopes.map { "<li>\(Self.escape(texts.scope($0)))</li>" }.joined()
        let warning =
            prompt.isSelfRegistered
            ? "<p class=\"warning\">\(filled(texts.unverified, names))</p>" : ""
        let destination =
            prompt.host == nil ? "" : "<p class=\"note\">\(filled(texts.returns, names))</p>"
        return page(
            title: texts.title, names,
            """
            <p>\(filled(texts.asks, names))</p>
            <ul>\(scopes)</ul>
            \(warning)
            <h2>\(filled(texts.confirm, names))</h2>
            <p>\(filled(texts.steps, names))</p>
            <p class="code">\(prompt.code.text)</p>
            <p role="status">\(filled(isRepeated ? texts.notYet : texts.waiting, names))</p>
            \(destination)
            <div class="actions">
            <a class="button" id="continue" href="\(path)?again" data-status="\(path)/status">\(Self.escape(texts.proceed))</a>
            <form method="post" action="\(path)/cancel"><input type="hidden" name="token" value="\(prompt.formToken)"><button>\(Self.escape(texts.cancel))</button></form>
            </div>
            """)
    }

    func device(app: String, code: UserCode?) -> OAuthResponse {
        let names = ["app": app]
        let shown = code.map { "<p class=\"code\">\($0.text)</p>" } ?? ""
        return page(
            title: texts.deviceTitle, names,
            "<p>\(filled(texts.deviceSteps, names))</p>\(shown)<p class=\"note\">\(filled(texts.deviceWarning, names))</p>"
        )
    }

    /// The reader has canceled the request. The page redirects to the app. Browsers may ask the reader before they open
    /// an app with a private scheme, so the page also has a link.
    func canceled(_ prompt: Prompt, link: String) -> OAuthResponse {
        let names = ["client": prompt.client]
        return page(
            title: texts.canceledTitle, names, back(link, names),
            head: "<meta http-equiv=\"refresh\" content=\"0;url=\(Self.escape(link))\">")
    }

    /// The request has expired, or its code was used.
    func ended(_ prompt: Prompt, link: String) -> OAuthResponse {
        let names = ["client": prompt.client]
        return page(
            title: texts.endedTitle, names,
            "<p>\(filled(texts.endedText, names))</p>\(back(link, names))")
    }

    private func back(_ link: String, _ names: [String: String]) -> String {
        "<p><a class=\"button\" href=\"\(Self.escape(link))\">\(filled(texts.back, names))</a></p>"
    }

    func failed(_ error: OAuthError) -> OAuthResponse {
        page(
            status: error.status, title: texts.errorTitle, [:],
            "<p>\(Self.escape(texts.errorText))</p><p class=\"note\" lang=\"en\">\(Self.escape(error.description))</p>"
        )
    }

    private func page(
        status: Int = 200, title: String, _ names: [String: String], _ content: String,
        head: String = ""
    ) -> OAuthResponse {
        .page(
            status,
            """
            <!DOCTYPE html>
            <html lang="\(texts.language)">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(Self.fill(title, names) { Self.escape($0) })</title>
            <link rel="stylesheet" href="\(basePath)/oauth/page.css">
            <script src="\(basePath)/oauth/page.js" defer></script>
            \(head)
            </head>
            <body>
            <main>
            <h1>\(filled(title, names))</h1>
            \(content)
            </main>
            </body>
            </html>

            """, language: texts.language)
    }

    /// Escapes a text and replaces placeholders such as `{client}` with names.
    private func filled(_ text: String, _ names: [String: String]) -> String {
        Self.fill(text, names) { "<bdi>\(Self.escape($0))</bdi>" }
    }

    /// Replaces all placeholders in one pass, so braces in a name are not a placeholder.
    static func fill(
        _ text: String, _ names: [String: String], _ insert: (String) -> String
    ) -> String {
        var result = ""
        var rest = text[...]
        while let start = rest.firstIndex(of: "{"), let end = rest[start...].firstIndex(of: "}") {
            result += escape(String(rest[..<start]))
            result += insert(names[String(rest[rest.index(after: start)..<end])] ?? "")
            rest = rest[rest.index(after: end)...]
        }
        return result + escape(String(rest))
    }

    static func escape(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
