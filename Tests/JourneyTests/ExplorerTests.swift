import Glibc
import GraphQL
import TestSupport
import Testing

/// The explorer page as a person uses it, in a real browser, against the server as it is run.
@Suite(.enabled(if: access(Browser.path, X_OK) == 0, "there is no Chromium here"))
struct ExplorerTests {
    /// The text of the editor, and a way to set it.
    private static let editor = "document.querySelector('#query .CodeMirror').CodeMirror"
    private static let viewer = "document.querySelector('#result .CodeMirror').CodeMirror"

    private static func opened() async throws -> (Browser, RunningServer, String, cover: String) {
        let installation = try await Installation.ready()
        let cover = try installation.write(TestImage.png(), to: "cover.png")
        let server = try await installation.startServer()
        let url = "http://localhost:\(server.client.port)/graphql"
        let browser = try await blocking {
            let browser = try Browser(folder: installation.folder)
            try browser.open(url)
            try browser.wait("document.querySelector('#doc dl')")
            return UncheckedBrowser(browser)
        }
        return (browser.value, server, url, cover)
    }

    /// A browser is used by one thread after another.
    private struct UncheckedBrowser: @unchecked Sendable {
        let value: Browser
        init(_ value: Browser) { self.value = value }
    }

    private func using(_ browser: Browser, _ work: @Sendable @escaping (Browser) throws -> Void)
        async throws
    {
        let browser = UncheckedBrowser(browser)
        try await blocking { try work(browser.value) }
    }

    @Test func aPersonLearnsAndAsks() async throws {
        let (browser, server, url, cover) = try await Self.opened()
        try await using(browser) { browser in
            try Self.signIn(browser)
            try Self.typeAndComplete(browser)
            try Self.runAndExplain(browser)
            try Self.build(browser)
            try Self.readTheSchema(browser)
            try Self.subscribe(browser)
            try Self.upload(browser, cover)
            try Self.keepAndShare(browser, url)
            try Self.lookAtItEverywhere(browser)
            // Nothing in the console, and no other host was asked for anything.
            #expect(browser.problems == [])
            #expect(
                browser.requests.allSatisfy {
                    $0.hasPrefix(url.dropLast("/graphql".count)) || $0.hasPrefix("data:")
                })
        }
        _ = server
    }

    /// Queries run. Where the schema would be shown, the page says why it is not.
    @Test func thePageWorksWithoutIntrospection() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer(["BOOKPLATE_INTROSPECTION": "off"])
        let url = "http://localhost:\(server.client.port)/graphql"
        let browser = try await blocking {
            UncheckedBrowser(try Browser(folder: installation.folder))
        }
        try await using(browser.value) { browser in
            try browser.open(url)
            for element in ["#doc", "#builder"] {
                try browser.wait(
                    "document.querySelector('\(element)').textContent.includes('BOOKPLATE_INTROSPECTION')"
                )
            }
            try browser.evaluate("\(Self.editor).setValue('{ __typename }')")
            try browser.click("#run")
            try browser.wait("\(Self.viewer).getValue().includes('Query')")
            try browser.screenshot("introspection-off")
        }
    }

    private static func signIn(_ browser: Browser) throws {
        try browser.wait("!document.querySelector('#sign-in').hidden")
        try browser.click("#sign-in")
        try browser.evaluate(
            "document.querySelector('#sign-in-audience').value = 'com.example.reader'")
        try browser.evaluate("document.querySelector('#sign-in-subject').value = 'Ada'")
        try browser.click("#sign-in-form .primary")
        try browser.wait("document.querySelector('#token').value.split('.').length === 3")
        try browser.wait("!document.querySelector('#sign-in-dialog').open")
    }

    /// Types a query with the keyboard only, completing and being told of a mistake on the way.
    private static func typeAndComplete(_ browser: Browser) throws {
        try browser.press("n", code: "KeyN", number: 78, modifiers: 1)
        try browser.wait("document.querySelectorAll('#tabs .tab').length === 2")
        try browser.type("{ me { disp")
        try browser.wait("document.querySelector('.CodeMirror-hint')")
        #expect(
            try browser.evaluate("document.querySelector('.CodeMirror-hint').textContent")
                == "displayNameString")
        try browser.screenshot("completing")
        // The list is made anew a frame after each character; a key that comes in between is for the old one.
        try browser.evaluate(
            "requestAnimationFrame(() => requestAnimationFrame(() => { window.isDrawn = true }))")
        try browser.wait("window.isDrawn")
        try browser.type("\n")
        try browser.wait("\(editor).getValue().includes('displayName')")
        try browser.type(" nonsense")
        let typed = try browser.evaluate("\(editor).getValue()")
        #expect(typed.string?.hasPrefix("{ me { displayName nonsense") == true, "\(typed)")
        try browser.wait(
            "document.querySelector('.CodeMirror-lint-mark-error')?.textContent === 'nonsense'")
        try browser.screenshot("linting")
        try browser.evaluate("\(editor).setValue('{ me { displayName } }')")
        try browser.evaluate("\(editor).replaceRange(' ', {line: 0, ch: 0})")
        try browser.wait("!document.querySelector('.CodeMirror-lint-mark-error')")
        try browser.press("P", code: "KeyP", number: 80, modifiers: 2 + 8)
        try browser.wait("\(editor).getValue().includes('  me {\\n    displayName')")
    }

    private static func runAndExplain(_ browser: Browser) throws {
        try browser.evaluate("\(editor).focus()")
        try browser.press("Enter", code: "Enter", number: 13, modifiers: 2)
        try browser.wait("\(viewer).getValue().includes('Ada')")
        #expect(
            try browser.evaluate("JSON.parse(\(viewer).getValue())") == [
                "data": ["me": ["displayName": "Ada"]]
            ])
        #expect(
            try browser.evaluate("document.querySelector('#summary .good').textContent") == "200")
        try browser.evaluate("document.querySelector('#work').open = true")
        #expect(
            try browser.evaluate(
                "document.querySelector('#work').textContent.includes('FROM users')") == true)
        try browser.screenshot("answer")
    }

    private static func build(_ browser: Browser) throws {
        try browser.press("b", code: "KeyB", number: 66, modifiers: 1)
        try browser.wait("document.querySelector('[data-path=\"query/me/email\"]')")
        try browser.click("[data-path='query/me/email']")
        try browser.wait(
            "\(editor).getValue() === '{\\n  me {\\n    displayName\\n    email\\n  }\\n}'")
        try browser.click("[data-path='query/feed']")
        try browser.wait("\(editor).getValue().includes('feed {')")
        try browser.wait(
            "document.querySelector('[data-path=\"query/feed\"]').ariaChecked === 'true'")
        try browser.screenshot("building")
        try browser.click("[data-path='query/feed']")
        try browser.wait("!\(editor).getValue().includes('feed')")
        try browser.click("[data-path='mutation/createShelf']")
        // Each of several operations has a name.
        try browser.wait(
            "/query MyQuery \\{[^]*mutation MyMutation \\{[^]*createShelf\\(input:/.test(\(editor).getValue())"
        )
    }

    private static func readTheSchema(_ browser: Browser) throws {
        try browser.press("k", code: "KeyK", number: 75, modifiers: 1)
        #expect(try browser.evaluate("document.activeElement.id") == "search")
        try browser.type("purchaseLinks")
        try browser.wait(
            "document.querySelector('#doc .link')?.textContent === 'FeedCard.purchaseLinks'")
        try browser.type("\n")
        try browser.wait("document.querySelector('#doc h3')?.textContent === 'FeedCard'")
        try browser.evaluate(
            "[...document.querySelectorAll('#doc .link')].find((one) => one.textContent === 'PurchaseLink').click()"
        )
        #expect(
            try browser.evaluate(
                "[...document.querySelectorAll('#doc .link')].map((one) => one.textContent)"
            ).list?.contains("FeedCard.purchaseLinks") == true)
        try browser.screenshot("schema")
    }

    /// Each change of the library arrives in the list of events while the subscription runs, until it is stopped.
    private static func subscribe(_ browser: Browser) throws {
        try browser.press("n", code: "KeyN", number: 78, modifiers: 1)
        try browser.evaluate(
            "\(editor).replaceRange('subscription { changes { kind typename } }', {line: 0, ch: 0})"
        )
        try browser.click("#run")
        try browser.wait("document.querySelector('#summary').textContent.includes('waiting')")
        try browser.wait("!document.querySelector('#events').hidden")
        for number in 1...2 {
            // It may take the server a moment to begin to listen.
            try browser.evaluate(
                """
                import('/explorer/request.js').then(({send}) => send({token: document.querySelector('#token').value,
                  query: 'mutation { createShelf(input: {name: "Heard \(number)"}) { id } }'}))
                """)
            try browser.wait("document.querySelectorAll('#events li').length === \(number)")
        }
        #expect(
            try browser.evaluate("document.querySelector('#events pre').textContent").string?
                .contains(#""typename": "Shelf""#) == true)
        try browser.screenshot("subscription")
        try browser.click("#run")
        try browser.wait("document.querySelector('#summary').textContent === 'stopped'")
        #expect(try browser.evaluate("document.querySelector('#run').textContent") == "Run")
        try browser.press("w", code: "KeyW", number: 87, modifiers: 1)
    }

    /// Chooses a file for a variable, and sees the cover that it became.
    private static func upload(_ browser: Browser, _ cover: String) throws {
        try browser.press("n", code: "KeyN", number: 78, modifiers: 1)
        let book = try browser.evaluate(
            """
            import('/explorer/request.js').then(({send}) => send({token: document.querySelector('#token').value,
              query: 'mutation { createBook(input: {title: "Dune"}) { id } }'})).then(({json}) => json.data.createBook.id)
            """)
        try browser.evaluate(
            """
            \(editor).setValue('mutation($image: Upload!) { setCover(bookId: "\(book.string ?? "")", \
            source: {image: $image}) { coverStatus cover { source } } }')
            """)
        try browser.click("[aria-controls='files-pane']")
        try browser.click("#add-file")
        try browser.wait("document.querySelector('#files input[type=text]')")
        // The variable's name is there already.
        #expect(
            try browser.evaluate("document.querySelector('#files input[type=text]').value")
                == "variables.image")
        try browser.choose([cover], in: "#files input[type=file]")
        try browser.click("#run")
        try browser.wait("\(viewer).getValue().includes('coverStatus')")
        #expect(
            try browser.evaluate("JSON.parse(\(viewer).getValue())") == [
                "data": [
                    "setCover": ["coverStatus": "READY", "cover": ["source": "MANUAL_UPLOAD"]]
                ]
            ])
        try browser.screenshot("upload")
        try browser.press("w", code: "KeyW", number: 87, modifiers: 1)
    }

    private static func keepAndShare(_ browser: Browser, _ url: String) throws {
        try browser.press("s", code: "KeyS", number: 83, modifiers: 1)
        try browser.evaluate("document.querySelector('#save-name').value = 'My shelf'")
        try browser.click("#save-dialog .primary")
        try browser.wait("document.querySelector('#saved-list')?.textContent.includes('My shelf')")
        try browser.call("Page.reload")
        try browser.wait("document.querySelector('#doc dl')")
        try browser.wait("document.querySelectorAll('#tabs .tab').length === 2")
        #expect(try browser.evaluate("\(editor).getValue().includes('displayName')") == true)
        #expect(
            try browser.evaluate(
                "document.querySelector('#saved-list').textContent.includes('My shelf')") == true)
        // A link carries its query after the #, and opens it in a tab of its own.
        try browser.open("about:blank")
        try browser.open("\(url)#query=%7B%20genres%20%7D")
        try browser.wait("document.querySelectorAll('#tabs .tab').length === 3")
        #expect(try browser.evaluate("\(editor).getValue()") == "{ genres }")
        #expect(try browser.evaluate("location.hash") == "")
        for (module, call, part) in [
            (
                "asCurl", "asCurl({query: \"{ a(b: 'x') }\", headers: {}, hasToken: true})",
                "Bearer $TOKEN"
            ),
            (
                "asSwift", "asSwift({query: '{ a }', headers: {}, hasToken: true})",
                "URLSession.shared"
            ),
        ] {
            let text = try browser.evaluate(
                "import('/explorer/export.js').then(({\(module)}) => \(call))")
            #expect(text.string?.contains(part) == true)
        }
    }

    private static func lookAtItEverywhere(_ browser: Browser) throws {
        try browser.wait("document.querySelector('#doc dl')")
        try browser.click("#theme")
        try browser.screenshot("other-theme")
        try browser.click("#theme")
        try browser.press("F1", code: "F1", number: 112)
        try browser.wait("document.querySelector('#keys-dialog').open")
        try browser.click("#keys-dialog .primary")
        try browser.setScreen(width: 390)
        try browser.open("about:blank")
        try browser.evaluate("0")
        try browser.call(
            "Page.navigateToHistoryEntry", ["entryId": .int(try Self.lastPage(browser))])
        try browser.wait("document.querySelector('#doc dl')")
        // Nothing sticks out to the side of a phone.
        #expect(try browser.evaluate("document.documentElement.scrollWidth <= innerWidth") == true)
        try browser.screenshot("phone")
        try browser.setScreen(width: nil)
    }

    private static func lastPage(_ browser: Browser) throws -> Int {
        let history = try browser.call("Page.getNavigationHistory")
        return history["entries"]?.list?.last { $0["url"]?.string?.contains("/graphql") == true }?[
            "id"]?.int ?? 0
    }
}
