import GraphQL
import TestSupport
import Testing

/// The pages in a browser.
@Suite struct OAuthPageTests {
    static func violations(_ browser: Browser) throws -> Value {
        try browser.evaluate(
            """
            axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})
              .then(({violations}) => violations.map(({id, nodes}) =>
                `${id}: ${nodes.map(({target, failureSummary}) => `${target.join(' ')} ${failureSummary}`).join('; ')}`))
            """)
    }

    private static func authorizationURL(_ server: OAuthServer, _ app: OAuthServer.App) -> String {
        let fields = OAuthServer.form(OAuthServer.authorizeFields(app))
        return "\(server.url)/oauth/authorize/reader?\(fields)"
    }

    /// All pages in all languages, in both color schemes and on a small screen.
    @Test(arguments: [
        ("en", "Connect", "Continue"), ("de-AT, en;q=0.5", "verbinden", "Weiter"),
        ("fr", "Connecter", "Continuer"), ("en;q=0.1, es-MX", "Conectar", "Cancelar"),
        ("ja", "接続", "続ける"),
    ])
    func pagesAreAccessible(accept: String, title: String, button: String) async throws {
        let axe = try await PythonEnvironment.axe()
        let server = try await OAuthServer.shared()
        let app = try await server.addApp("Reading Stats")
        let folder = try Program.makeFolder()
        try await blocking {
            let browser = try Browser(folder: folder)
            try browser.call("Page.setBypassCSP", ["enabled": true])
            try browser.call(
                "Network.setExtraHTTPHeaders", ["headers": ["Accept-Language": .string(accept)]])
            func check(_ name: String) throws {
                let language = accept.contains("es") ? "es" : String(accept.prefix(2))
                #expect(
                    try browser.evaluate("document.documentElement.lang") == .string(language))
                try browser.evaluate(axe)
                for scheme in ["light", "dark"] {
                    try browser.call(
                        "Emulation.setEmulatedMedia",
                        [
                            "features": [
                                ["name": "prefers-color-scheme", "value": .string(scheme)]
                            ]
                        ])
                    #expect(try Self.violations(browser) == [], "\(name) \(scheme)")
                }
                #expect(
                    try browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
                        == true)
                try browser.screenshot("oauth-\(language)-\(name)")
            }
            for (width, height) in [(1280, 800), (320, 640)] {
                try browser.setScreen(width: width, height: height)
                try browser.open(Self.authorizationURL(server, app))
                let text = try browser.evaluate("document.body.innerText").string ?? ""
                #expect(text.contains(title) && text.contains(button), "\(text)")
                try check("request-\(width)")
                try browser.open("\(server.url)/oauth/device/reader?user_code=BCDF-GHJK")
                try check("device-\(width)")
                try browser.open("\(server.url)/oauth/authorize/reader?client_id=x")
                try check("error-\(width)")
            }
        }
    }

    /// The browser returns to the app as soon as the reader has decided, and the page reports no errors.
    @Test func browserReturnsByItself() async throws {
        let server = try await OAuthServer.shared()
        let app = try await server.addApp(redirectURI: "\(server.url)/health/live")
        let reader = try await server.reader()
        let folder = try Program.makeFolder()
        let opened = try await blocking {
            let browser = try Browser(folder: folder)
            try browser.open(Self.authorizationURL(server, app))
            let code = try browser.evaluate("document.querySelector('.code').textContent")
            return UncheckedBrowser(value: browser, code: code.string ?? "")
        }
        try await server.approve(opened.code, as: reader)
        let address = try await blocking {
            try opened.value.wait("location.pathname === '/health/live'")
            #expect(opened.value.errors.filter { !$0.contains("favicon") } == [])
            return try opened.value.evaluate("location.search").string ?? ""
        }
        #expect(address.contains("code=bpc_") && address.contains("state=xyz"))
    }

    /// Without scripts, the reader follows the link, or cancels with the form.
    @Test func pageWorksWithoutScripts() async throws {
        let server = try await OAuthServer.shared()
        let app = try await server.addApp(redirectURI: "\(server.url)/health/live")
        let folder = try Program.makeFolder()
        try await blocking {
            let browser = try Browser(folder: folder)
            // The browser blocks the script file.
            try browser.call("Network.setBlockedURLs", ["urls": ["*page.js"]])
            try browser.open(Self.authorizationURL(server, app))
            try browser.click("#continue")
            try browser.wait("location.search === '?again'")
            #expect(
                try browser.evaluate("document.querySelector('[role=status]').textContent").string?
                    .contains("not confirmed yet") == true)
            try browser.click("form button")
            try browser.wait("location.pathname === '/health/live'")
            #expect(
                try browser.evaluate("location.search").string?.contains("error=access_denied")
                    == true)
        }
    }

    /// Passes a browser between threads, which use it one after another.
    private struct UncheckedBrowser: @unchecked Sendable {
        let value: Browser
        let code: String
    }
}
