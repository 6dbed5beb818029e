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
            route(
                "/explorer/explorer.js",
                Asset(PackageResources.explorer_js, contentType: "text/javascript; charset=utf-8")),
            route(
                "/explorer/explorer.css",
                Asset(PackageResources.explorer_css, contentType: "text/css; charset=utf-8")),
        ]
    }

    private static func route(_ path: String, _ asset: Asset) -> Route {
        Route(.GET, path) { asset.response(to: $0) }
    }
}
