import TestSupport

/// The explorer page in a browser, on a server of its own.
struct ExplorerPage: Sendable {
    /// The CodeMirror object of the query editor, as a JavaScript expression.
    static let editor = "document.querySelector('#query-editor .CodeMirror').CodeMirror"
    /// The CodeMirror object of the variables, as a JavaScript expression.
    static let variables = "document.querySelector('#variables-editor .CodeMirror').CodeMirror"
    /// The CodeMirror object that shows the response, as a JavaScript expression.
    static let viewer = "document.querySelector('#response-viewer .CodeMirror').CodeMirror"

    let server: RunningServer
    let url: String
    /// The path of an image for uploads.
    let cover: String
    private let browser: UncheckedBrowser

    /// Passes a browser between threads, which use it one after another.
    private struct UncheckedBrowser: @unchecked Sendable {
        let value: Browser
    }

    /// Starts a server and a browser, and opens the page.
    ///
    /// - Parameters:
    ///   - settings: settings of the server besides those of an installation.
    ///   - hostName: another name of this machine, for `url`; nil for `localhost`.
    ///   - condition: a JavaScript expression that is true when the page is ready.
    static func open(
        _ settings: [String: String] = [:], hostName: String? = nil,
        waitFor condition: String = "document.querySelector('#schema-content dl')"
    ) async throws -> ExplorerPage {
        let installation = try await Installation.ready()
        let cover = try installation.write(TestImage.png(), to: "cover.png")
        let server = try await installation.startServer(settings)
        let url = "http://\(hostName ?? "localhost"):\(server.client.port)/graphql"
        let browser = try await blocking {
            let browser = try Browser(folder: installation.folder, hostName: hostName)
            try browser.setScreen(width: 1440, height: 900)
            try browser.open(url)
            try browser.wait(condition)
            return UncheckedBrowser(value: browser)
        }
        return ExplorerPage(server: server, url: url, cover: cover, browser: browser)
    }

    func use(_ work: @Sendable @escaping (Browser) throws -> Void) async throws {
        try await blocking { [browser] in try work(browser.value) }
    }

    /// Waits until the page has signed in by itself.
    static func waitForSession(_ browser: Browser) throws {
        try browser.wait("document.querySelector('#sign-in').textContent === 'reader'")
    }

    /// Replaces the query of the active tab as if the user had typed it.
    static func enter(_ query: String, _ browser: Browser) throws {
        try browser.evaluate(
            """
            \(editor).operation(() => {
              const last = \(editor).lastLine();
              \(editor).replaceRange(\(Browser.quoted(query)), {line: 0, ch: 0}, {line: last, ch: 1e6}, '+input');
            })
            """)
    }
}
