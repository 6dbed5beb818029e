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
    let page = Asset(
        PackageResources.explorer_html, contentType: "text/html; charset=utf-8",
        headers: [
            (
                "Content-Security-Policy",
                "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                    + "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            ),
            ("Referrer-Policy", "no-referrer"),
        ])

    /// Returns the routes of the page's files, settings, and document check.
    func routes(bodyBytesMax: Int) -> [Route] {
        let settings =
            #"{"isDevelopment":\#(isDevelopment),"hasDevelopmentSignIn":\#(hasDevelopmentSignIn)}"#
        return Self.files + [
            ExplorerCheck(schema: schema, limits: limits).route(bodyBytesMax: bodyBytesMax),
            Route(.GET, "/explorer/settings") { _ in
                .text(.ok, settings, contentType: ResponseMediaType.json.contentType)
            },
        ]
    }

    static var files: [Route] {
        [
            file("codemirror.css", bytes(codemirror_css), contentType: "text/css"),
            // Compressed to a third of its size. Every browser supports gzip.
            file(
                "codemirror.js", bytes(codemirror_js_gz),
                headers: [("Content-Encoding", "gzip")]),
            file("explorer.css", PackageResources.explorer_css, contentType: "text/css"),
            file("explorer.js", PackageResources.explorer_js),
            file("builder-inputs.js", PackageResources.builder_inputs_js),
            file("builder-panel.js", PackageResources.builder_panel_js),
            file("client.js", PackageResources.client_js),
            file("clipboard.js", PackageResources.clipboard_js),
            file("document-checker.js", PackageResources.document_checker_js),
            file("document-edits.js", PackageResources.document_edits_js),
            file("document-inputs.js", PackageResources.document_inputs_js),
            file("document-symbols.js", PackageResources.document_symbols_js),
            file("document-tree.js", PackageResources.document_tree_js),
            file("dom.js", PackageResources.dom_js),
            file("editor-modes.js", PackageResources.editor_modes_js),
            file("editors.js", PackageResources.editors_js),
            file("event-list.js", PackageResources.event_list_js),
            file("event-stream.js", PackageResources.event_stream_js),
            file("event-title.js", PackageResources.event_title_js),
            file("example-value.js", PackageResources.example_value_js),
            file("explanation.js", PackageResources.explanation_js),
            file("export.js", PackageResources.export_js),
            file("file-list.js", PackageResources.file_list_js),
            file("format-document.js", PackageResources.format_document_js),
            file("history-panel.js", PackageResources.history_panel_js),
            file("hover-card.js", PackageResources.hover_card_js),
            file("images.js", PackageResources.images_js),
            file("input-context.js", PackageResources.input_context_js),
            file("input-edits.js", PackageResources.input_edits_js),
            file("json-object-editor.js", PackageResources.json_object_editor_js),
            file("layout.js", PackageResources.layout_js),
            file("literals.js", PackageResources.literals_js),
            file("markdown.js", PackageResources.markdown_js),
            file("operation-menu.js", PackageResources.operation_menu_js),
            file("query-completion.js", PackageResources.query_completion_js),
            file("query-editor.js", PackageResources.query_editor_js),
            file("request-panel.js", PackageResources.request_panel_js),
            file("response-panel.js", PackageResources.response_panel_js),
            file("run.js", PackageResources.run_js),
            file("runner.js", PackageResources.runner_js),
            file("schema-panel.js", PackageResources.schema_panel_js),
            file("schema-search.js", PackageResources.schema_search_js),
            file("schema.js", PackageResources.schema_js),
            file("session.js", PackageResources.session_js),
            file("shortcuts.js", PackageResources.shortcuts_js),
            file("sign-in-dialog.js", PackageResources.sign_in_dialog_js),
            file("splitter.js", PackageResources.splitter_js),
            file("store.js", PackageResources.store_js),
            file("suggestions.js", PackageResources.suggestions_js),
            file("tab-bar.js", PackageResources.tab_bar_js),
            file("tab-list.js", PackageResources.tab_list_js),
            file("token-field.js", PackageResources.token_field_js),
            file("toolbar.js", PackageResources.toolbar_js),
            file("variables-completion.js", PackageResources.variables_completion_js),
        ]
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
