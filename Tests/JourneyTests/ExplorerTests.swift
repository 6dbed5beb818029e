import Glibc
import GraphQL
import TestSupport
import Testing

/// The explorer page in a real browser, with the real server.
@Suite(.enabled(if: access(Browser.path, X_OK) == 0, "Chromium is not installed"))
struct ExplorerTests {
    /// The CodeMirror object of the query editor, as a JavaScript expression.
    private static let editor = "document.querySelector('#query-editor .CodeMirror').CodeMirror"
    /// The CodeMirror object that shows the response, as a JavaScript expression.
    private static let viewer = "document.querySelector('#response-viewer .CodeMirror').CodeMirror"

    /// Starts a server and opens its page. `cover` is the path of an image for uploads.
    private static func openPage() async throws -> (
        Browser, RunningServer, url: String, cover: String
    ) {
        let installation = try await Installation.ready()
        let cover = try installation.write(TestImage.png(), to: "cover.png")
        let server = try await installation.startServer()
        let url = "http://localhost:\(server.client.port)/graphql"
        let browser = try await blocking {
            let browser = try Browser(folder: installation.folder)
            try browser.open(url)
            try browser.wait("document.querySelector('#schema-content dl')")
            return UncheckedBrowser(browser)
        }
        return (browser.value, server, url, cover)
    }

    /// Passes a browser between threads, which use it one after another.
    private struct UncheckedBrowser: @unchecked Sendable {
        let value: Browser
        init(_ value: Browser) { self.value = value }
    }

    private func withBrowser(
        _ browser: Browser, _ work: @Sendable @escaping (Browser) throws -> Void
    )
        async throws
    {
        let browser = UncheckedBrowser(browser)
        try await blocking { try work(browser.value) }
    }

    @Test func everyPanelWorks() async throws {
        let (browser, server, url, cover) = try await Self.openPage()
        try await withBrowser(browser) { browser in
            try Self.signIn(browser)
            try Self.completeAndFormat(browser)
            try Self.checkSuggestions(browser)
            try Self.runAndExplain(browser)
            try Self.buildQuery(browser)
            try Self.searchSchema(browser)
            try Self.subscribe(browser)
            try Self.uploadCover(browser, cover)
            try Self.saveAndShare(browser, url)
            try Self.changeThemeAndScreen(browser)
            #expect(browser.errors == [])
            // The page sends requests only to its own server.
            #expect(
                browser.requestURLs.allSatisfy {
                    $0.hasPrefix(url.dropLast("/graphql".count)) || $0.hasPrefix("data:")
                })
        }
        _ = server
    }

    /// Without introspection, queries run. The panels that need the schema show the reason.
    @Test func worksWithoutIntrospection() async throws {
        let installation = try await Installation.ready(catalog: [])
        let server = try await installation.startServer(["BOOKPLATE_INTROSPECTION": "off"])
        let url = "http://localhost:\(server.client.port)/graphql"
        let browser = try await blocking {
            UncheckedBrowser(try Browser(folder: installation.folder))
        }
        try await withBrowser(browser.value) { browser in
            try browser.open(url)
            for element in ["#schema-content", "#builder-tree"] {
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

    /// Types a query with the keyboard, accepts a suggestion, makes an error, and formats the query.
    private static func completeAndFormat(_ browser: Browser) throws {
        try browser.press("n", code: "KeyN", number: 78, modifiers: 1)
        try browser.wait("document.querySelectorAll('#tabs .tab').length === 2")
        try browser.type("{ me { disp")
        try browser.wait("document.querySelector('.CodeMirror-hint')")
        #expect(
            try browser.evaluate("document.querySelector('.CodeMirror-hint').textContent")
                == "displayNameString")
        try browser.screenshot("completing")
        // The editor updates the list one frame after a character, and Enter must go to the new list.
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

    /// Checks what completion suggests at the end of incomplete documents.
    private static func checkSuggestions(_ browser: Browser) throws {
        for (text, expected) in [
            ("", "mutation"), ("{ me { ", "displayName"), ("{ me { ... on ", "User"),
            ("{ feed(", "first"), ("query($id: ", "ID"),
            ("mutation { updateBook(id: 1, input: {status: ", "READ"),
            ("mutation { createShelf(input: {name: \"A\" ", "id"),
            // There are no suggestions inside of a string.
            ("mutation { createShelf(input: {name: \"A ", nil),
        ] as [(String, String?)] {
            let labels = try browser.evaluate(
                """
                Promise.all([import('/explorer/schema.js'), import('/explorer/query-completion.js')])
                  .then(async ([{fetchSchema}, {completeQuery}]) => {
                    const text = \(Browser.quoted(text));
                    const {suggestions} = completeQuery(text, text.length, await fetchSchema());
                    return suggestions.map(({label}) => label);
                  })
                """
            ).list
            if let expected {
                #expect(labels?.contains(.string(expected)) == true, "\(text)")
            } else {
                #expect(labels == [], "\(text)")
            }
        }
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
            try browser.evaluate("document.querySelector('#response-status .success').textContent")
                == "200")
        try browser.evaluate("document.querySelector('#explanation').open = true")
        #expect(
            try browser.evaluate(
                "document.querySelector('#explanation').textContent.includes('FROM users')") == true
        )
        try browser.screenshot("response")
    }

    private static func buildQuery(_ browser: Browser) throws {
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
        // In a document with several operations, each one gets a name.
        try browser.wait(
            "/query MyQuery \\{[^]*mutation MyMutation \\{[^]*createShelf\\(input:/.test(\(editor).getValue())"
        )
    }

    private static func searchSchema(_ browser: Browser) throws {
        try browser.press("k", code: "KeyK", number: 75, modifiers: 1)
        #expect(try browser.evaluate("document.activeElement.id") == "schema-search")
        try browser.type("purchaseLinks")
        try browser.wait(
            "document.querySelector('#schema-content .link')?.textContent === 'Book.purchaseLinks'"
        )
        try browser.type("\n")
        try browser.wait("document.querySelector('#schema-content h3')?.textContent === 'Book'")
        try browser.evaluate(
            "[...document.querySelectorAll('#schema-content .link')].find((one) => one.textContent === 'PurchaseLink').click()"
        )
        #expect(
            try browser.evaluate(
                "[...document.querySelectorAll('#schema-content .link')].map((one) => one.textContent)"
            ).list?.contains("FeedCard.purchaseLinks") == true)
        try browser.screenshot("schema")
    }

    /// Runs a subscription, which lists each change of the library, and stops it.
    private static func subscribe(_ browser: Browser) throws {
        try browser.press("n", code: "KeyN", number: 78, modifiers: 1)
        try browser.evaluate(
            "\(editor).replaceRange('subscription { changes { kind typename } }', {line: 0, ch: 0})"
        )
        try browser.click("#run")
        try browser.wait(
            "document.querySelector('#response-status').textContent.includes('Waiting')")
        try browser.wait("!document.querySelector('#event-list').hidden")
        for number in 1...2 {
            try browser.evaluate(
                """
                import('/explorer/client.js').then(({sendRequest}) => sendRequest({token: document.querySelector('#token').value,
                  query: 'mutation { createShelf(input: {name: "Shelf \(number)"}) { id } }'}))
                """)
            try browser.wait("document.querySelectorAll('#event-list li').length === \(number)")
        }
        #expect(
            try browser.evaluate("document.querySelector('#event-list pre').textContent").string?
                .contains(#""typename": "Shelf""#) == true)
        try browser.screenshot("subscription")
        try browser.click("#run")
        try browser.wait("document.querySelector('#response-status').textContent === 'Stopped'")
        #expect(try browser.evaluate("document.querySelector('#run').textContent") == "Run")
        try browser.press("w", code: "KeyW", number: 87, modifiers: 1)
    }

    /// Uploads a file as a variable.
    private static func uploadCover(_ browser: Browser, _ cover: String) throws {
        try browser.press("n", code: "KeyN", number: 78, modifiers: 1)
        let book = try browser.evaluate(
            """
            import('/explorer/client.js').then(({sendRequest}) => sendRequest({token: document.querySelector('#token').value,
              query: 'mutation { createBook(input: {title: "Dune"}) { id } }'})).then(({json}) => json.data.createBook.id)
            """)
        try browser.evaluate(
            """
            \(editor).setValue('mutation($image: Upload!) { setCover(id: "\(book.string ?? "")", \
            source: {image: $image}) { coverStatus cover { source } } }')
            """)
        try browser.click("[aria-controls='files-part']")
        try browser.click("#add-file")
        try browser.wait("document.querySelector('#file-list input[type=text]')")
        // The path of the new row names the operation's variable.
        #expect(
            try browser.evaluate("document.querySelector('#file-list input[type=text]').value")
                == "variables.image")
        try browser.choose([cover], in: "#file-list input[type=file]")
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

    private static func saveAndShare(_ browser: Browser, _ url: String) throws {
        try browser.press("s", code: "KeyS", number: 83, modifiers: 1)
        try browser.evaluate("document.querySelector('#save-name').value = 'My shelf'")
        try browser.click("#save-dialog .primary")
        try browser.wait(
            "document.querySelector('#saved-queries')?.textContent.includes('My shelf')")
        try browser.call("Page.reload")
        try browser.wait("document.querySelector('#schema-content dl')")
        try browser.wait("document.querySelectorAll('#tabs .tab').length === 2")
        #expect(try browser.evaluate("\(editor).getValue().includes('displayName')") == true)
        #expect(
            try browser.evaluate(
                "document.querySelector('#saved-queries').textContent.includes('My shelf')") == true
        )
        // A link contains its query after the `#`. The page opens it in a new tab.
        try browser.open("about:blank")
        try browser.open("\(url)#query=%7B%20genres%20%7B%20name%20%7D%20%7D")
        try browser.wait("document.querySelectorAll('#tabs .tab').length === 3")
        #expect(try browser.evaluate("\(editor).getValue()") == "{ genres { name } }")
        #expect(try browser.evaluate("location.hash") == "")
        for (function, expected) in [
            ("curlCommand", "Bearer $TOKEN"), ("swiftCode", "URLSession.shared"),
        ] {
            let request = #"{query: "{ a(b: 'x') }", headers: {}, token: 'secret'}"#
            let text = try browser.evaluate(
                "import('/explorer/export.js').then((module) => module.\(function)(\(request)))")
            #expect(text.string?.contains(expected) == true)
            #expect(text.string?.contains("secret") == false)
        }
    }

    private static func changeThemeAndScreen(_ browser: Browser) throws {
        try browser.wait("document.querySelector('#schema-content dl')")
        try browser.click("#theme")
        try browser.screenshot("other-theme")
        try browser.click("#theme")
        try browser.press("F1", code: "F1", number: 112)
        try browser.wait("document.querySelector('#shortcuts-dialog').open")
        try browser.click("#shortcuts-dialog .primary")
        try browser.setScreen(width: 390)
        try browser.open("about:blank")
        try browser.evaluate("0")
        try browser.call(
            "Page.navigateToHistoryEntry", ["entryId": .int(try Self.lastPageEntryID(browser))])
        try browser.wait("document.querySelector('#schema-content dl')")
        // The page fits the width of a phone.
        #expect(try browser.evaluate("document.documentElement.scrollWidth <= innerWidth") == true)
        try browser.screenshot("phone")
        try browser.setScreen(width: nil)
    }

    private static func lastPageEntryID(_ browser: Browser) throws -> Int {
        let history = try browser.call("Page.getNavigationHistory")
        return history["entries"]?.list?.last { $0["url"]?.string?.contains("/graphql") == true }?[
            "id"]?.int ?? 0
    }
}
