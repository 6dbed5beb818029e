/// The page where a person writes a query, runs it and reads the schema.
///
/// It is served whole by this server and asks no other host: its policy lets the browser load from here only.
enum Explorer {
    /// What a browser gets at `/graphql`.
    static let page = Asset(
        PackageResources.explorer_html, contentType: "text/html; charset=utf-8",
        headers: [
            (
                "content-security-policy",
                "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                    + "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            ),
            ("referrer-policy", "no-referrer"),
        ])

    /// What the page loads.
    static var routes: [Route] {
        [
            file("explorer.css", PackageResources.explorer_css, contentType: "text/css"),
            file("explorer.js", PackageResources.explorer_js),
            file("docs.js", PackageResources.docs_js),
            file("dom.js", PackageResources.dom_js),
            file("editor.js", PackageResources.editor_js),
            file("highlight.js", PackageResources.highlight_js),
            file("request.js", PackageResources.request_js),
            file("store.js", PackageResources.store_js),
        ]
    }

    private static func file(
        _ name: String, _ bytes: [UInt8], contentType: String = "text/javascript"
    ) -> Route {
        let asset = Asset(bytes, contentType: "\(contentType); charset=utf-8")
        return Route(.GET, "/explorer/\(name)") { asset.response(to: $0) }
    }
}
