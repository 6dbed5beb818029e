import CExplorer
import GraphQL
import GraphQLNIO

/// The page on which a developer writes a query, runs it, and reads the schema.
///
/// All of its files come from this server. Its content security policy lets the browser load nothing from other hosts.
package struct Explorer {
    private let schema: Schema
    private let limits: RequestLimits
    private let isDevelopment: Bool
    private let hasDevelopmentSignIn: Bool

    /// - Parameters:
    ///   - limits: The limits of requests.
    ///   - isDevelopment: Whether requests may ask for an explanation of their execution.
    ///   - hasDevelopmentSignIn: Whether `/development/identity-token` signs in any user.
    package init(
        schema: Schema, limits: RequestLimits = RequestLimits(), isDevelopment: Bool = false,
        hasDevelopmentSignIn: Bool = false
    ) {
        self.schema = schema
        self.limits = limits
        self.isDevelopment = isDevelopment
        self.hasDevelopmentSignIn = hasDevelopmentSignIn
    }

    /// The page that browsers get at `/graphql`.
    package let page = Asset(
        Array((embeddedFiles.first { $0.path == Self.pageName }?.text ?? "").utf8),
        contentType: "text/html; charset=utf-8",
        headers: [
            (
                "Content-Security-Policy",
                "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                    + "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            ),
            ("Referrer-Policy", "no-referrer"),
        ])

    /// Returns the routes of the page's files, settings, and document check.
    package func routes(bodyBytesMax: Int) -> [Route] {
        let settings =
            #"{"isDevelopment":\#(isDevelopment),"hasDevelopmentSignIn":\#(hasDevelopmentSignIn)}"#
        return Self.files + [
            ExplorerCheck(schema: schema, limits: limits).route(bodyBytesMax: bodyBytesMax),
            Route(.GET, "/explorer/settings") { _ in
                .text(.ok, settings, contentType: ResponseMediaType.json.contentType)
            },
        ]
    }

    package static var files: [Route] {
        [
            file("codemirror.css", bytes(codemirror_css), contentType: "text/css"),
            // Compressed to a third of its size. Every browser supports gzip.
            file(
                "codemirror.js", bytes(codemirror_js_gz),
                headers: [("Content-Encoding", "gzip")]),
        ] + pageFiles
    }

    /// The name of the file in the folder `Page` that is not served under its own address.
    private static let pageName = "explorer.html"

    /// The style sheet and the modules of the folder `Page`, which the plugin EmbedFiles embeds.
    private static var pageFiles: [Route] {
        embeddedFiles.filter { $0.path != pageName }.map { path, text in
            file(
                path, Array(text.utf8),
                contentType: path.hasSuffix(".css") ? "text/css" : "text/javascript")
        }
    }

    /// Returns the bytes of a file that is embedded in the program.
    private static func bytes(
        _ file: (UnsafeMutablePointer<Int>) -> UnsafePointer<UInt8>?
    ) -> [UInt8] {
        var count = 0
        let start = file(&count)
        return Array(UnsafeBufferPointer(start: start, count: count))
    }

    private static func file(
        _ name: String, _ bytes: [UInt8], contentType: String = "text/javascript",
        headers: [(String, String)] = []
    ) -> Route {
        let asset = Asset(
            bytes, contentType: "\(contentType); charset=utf-8", headers: headers)
        return Route(.GET, "/explorer/\(name)") { asset.response(to: $0) }
    }
}
