import GraphQL
import TestSupport
import Testing

/// Sessions and runs of the explorer page in a real browser.
@Suite struct ExplorerSessionTests {
    private static let editor = ExplorerPage.editor
    private static let viewer = ExplorerPage.viewer

    private static func textOfResponse(_ browser: Browser) throws -> String {
        try browser.evaluate("\(viewer).getValue()").string ?? ""
    }

    /// The page opens with a query that runs, and shows the covers in its response.
    @Test func opensWithAQueryAndASession() async throws {
        let page = try await ExplorerPage.open()
        try await page.use { browser in
            try ExplorerPage.waitForSession(browser)
            try browser.click("#run")
            try browser.wait("\(Self.viewer).getValue().includes('\"displayName\": \"reader\"')")
            #expect(try !Self.textOfResponse(browser).contains("errors"))
            // Only the visible part of the response has elements.
            for position in [0, 1] {
                try browser.evaluate(
                    "\(Self.viewer).scrollTo(0, \(position) * \(Self.viewer).getScrollInfo().height)"
                )
                let title =
                    "JSON.parse(\(Self.viewer).getValue()).data.feed.nodes[\(2 * position)].title"
                try browser.wait(
                    """
                    [...document.querySelectorAll('#response-viewer img')].some(
                      ({alt, naturalWidth}) => alt === `Cover of ${\(title)}` && naturalWidth > 0)
                    """)
            }
            #expect(browser.errors == [])
            try browser.screenshot("welcome")
        }
    }

    /// The page refreshes a token that is about to expire, and one that the server refuses.
    @Test(arguments: [
        "tokens.accessTokenExpiresAt = new Date(Date.now() + 1000).toISOString()",
        "tokens.accessToken = tokens.accessToken.slice(0, -4) + 'AAAA'",
    ])
    func refreshesItsSession(change: String) async throws {
        let page = try await ExplorerPage.open()
        try await page.use { browser in
            try ExplorerPage.waitForSession(browser)
            let tokens = "JSON.parse(sessionStorage.getItem('bookplate.tokens'))"
            let before = try browser.evaluate(tokens)
            try browser.evaluate(
                """
                (() => {
                  const tokens = \(tokens);
                  \(change);
                  sessionStorage.setItem('bookplate.tokens', JSON.stringify(tokens));
                })()
                """)
            try browser.call("Page.reload")
            try browser.wait("document.querySelector('#schema-content dl')")
            for kind in ["query", "subscription"] {
                try ExplorerPage.enter(
                    kind == "query"
                        ? "{ me { displayName } }" : "subscription { changes { kind } }", browser)
                try browser.click("#run")
                try browser.wait(
                    kind == "query"
                        ? "\(Self.viewer).getValue().includes('\"displayName\": \"reader\"')"
                        : "document.querySelector('#response-status').textContent.includes('Waiting')"
                )
            }
            let after = try browser.evaluate(tokens)
            #expect(after["refreshToken"] != before["refreshToken"])
            #expect(after["subject"] == "reader")
            #expect(
                try browser.evaluate("document.querySelector('#token').value")
                    == after["accessToken"])
        }
    }

    /// A window whose user has removed the token stays signed out.
    @Test func doesNotSignInAgain() async throws {
        let page = try await ExplorerPage.open()
        try await page.use { browser in
            try ExplorerPage.waitForSession(browser)
            try browser.evaluate(
                """
                (() => {
                  const field = document.querySelector('#token');
                  field.value = '';
                  field.dispatchEvent(new Event('input'));
                  field.dispatchEvent(new Event('change'));
                })()
                """)
            try browser.wait("document.querySelector('#sign-in').textContent === 'Sign in'")
            try browser.call("Page.reload")
            try browser.wait("document.querySelector('#schema-content dl')")
            try browser.wait("!document.querySelector('#sign-in').hidden")
            try browser.click("#run")
            try browser.wait("\(Self.viewer).getValue().includes('UNAUTHENTICATED')")
            #expect(
                try browser.evaluate("document.querySelector('#sign-in').textContent") == "Sign in")
        }
    }

    /// A subscription receives events while mutations run in another tab.
    @Test func tabsRunAtTheSameTime() async throws {
        let page = try await ExplorerPage.open()
        try await page.use { browser in
            try ExplorerPage.waitForSession(browser)
            let tabs = "document.querySelectorAll('#tabs .tab')"
            try ExplorerPage.enter(
                "subscription Live { changes { kind typename node { ... on Shelf { name } } } }",
                browser)
            try browser.click("#run")
            try browser.wait(
                "document.querySelector('#response-status').textContent.includes('Waiting')")
            try browser.click("#new-tab")
            #expect(try browser.evaluate("document.querySelector('#run').textContent") == "Run")
            for name in ["Evenings", "Mornings"] {
                try ExplorerPage.enter(
                    "mutation { createShelf(input: {name: \"\(name)\"}) { name } }", browser)
                try browser.click("#run")
                try browser.wait("\(Self.viewer).getValue().includes('\"name\": \"\(name)\"')")
                #expect(try browser.evaluate("\(tabs)[0].classList.contains('running')") == true)
            }
            try browser.click("#tabs .tab:first-child button")
            #expect(try browser.evaluate("document.querySelector('#run').textContent") == "Stop")
            try browser.wait("document.querySelectorAll('#event-list li').length === 2")
            #expect(
                try browser.evaluate(
                    "[...document.querySelectorAll('#event-list summary span')].map((one) => one.textContent)"
                ) == ["2. changes: CREATED Shelf Mornings", "1. changes: CREATED Shelf Evenings"])
            try browser.screenshot("events")
            // The response of the other tab is still there.
            try browser.click("#tabs .tab:last-child button")
            #expect(try Self.textOfResponse(browser).contains("Mornings"))
            // A closed tab stops its subscription.
            try browser.click("#tabs .tab:first-child .close")
            #expect(try browser.evaluate("\(tabs).length") == 1)
            #expect(try browser.evaluate("document.querySelector('.tab.running')") == .null)
            #expect(browser.errors == [])
        }
    }

    /// `navigator.clipboard` does not exist on a page whose origin is neither HTTPS nor this machine.
    @Test(arguments: [nil, "books.test"])
    func copies(hostName: String?) async throws {
        let page = try await ExplorerPage.open(hostName: hostName)
        try await page.use { browser in
            #expect(try browser.evaluate("isSecureContext") == .boolean(hostName == nil))
            try ExplorerPage.enter("{ __typename }", browser)
            try browser.click("#run")
            try browser.wait("\(Self.viewer).getValue().includes('Query')")
            try browser.click("#copy-response")
            try browser.wait(
                "document.querySelector('#response-status').textContent === 'Response copied'")
            // Pastes into the query editor.
            try browser.evaluate("\(Self.editor).setValue(''), \(Self.editor).focus()")
            try browser.call(
                "Input.dispatchKeyEvent",
                [
                    "type": "keyDown", "key": "v", "code": "KeyV", "windowsVirtualKeyCode": 86,
                    "modifiers": 2, "commands": ["paste"],
                ])
            try browser.wait("\(Self.editor).getValue().includes('\"__typename\": \"Query\"')")
        }
    }
}
