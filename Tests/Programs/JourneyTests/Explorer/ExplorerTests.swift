import GraphQL
import TestSupport
import Testing

/// The panels of the explorer page in a real browser, with the real server.
@Suite struct ExplorerTests {
    private static let editor = ExplorerPage.editor
    private static let viewer = ExplorerPage.viewer

    @Test func everyPanelWorks() async throws {
        let page = try await ExplorerPage.open()
        try await page.use { browser in
            try Self.signIn(browser)
            try Self.completeAndFormat(browser)
            try Self.checkSuggestions(browser)
            try Self.runAndExplain(browser)
            try Self.buildQuery(browser)
            try Self.searchSchema(browser)
            try Self.subscribe(browser)
            try Self.uploadCover(browser, page.cover)
            try Self.saveAndShare(browser, page.url)
            try Self.changeTheme(browser)
            #expect(browser.errors == [])
            // The page sends requests only to its own server.
            #expect(
                browser.requestURLs.allSatisfy {
                    $0.hasPrefix(page.url.dropLast("/graphql".count)) || $0.hasPrefix("data:")
                })
        }
    }

    /// Without introspection, queries run. The panels that need the schema show the reason.
    @Test func worksWithoutIntrospection() async throws {
        let page = try await ExplorerPage.open(
            ["BOOKPLATE_INTROSPECTION": "off"],
            waitFor: "document.querySelector('#schema-content p')")
        try await page.use { browser in
            for element in ["#schema-content", "#builder-tree"] {
                try browser.wait(
                    "document.querySelector('\(element)').textContent.includes('BOOKPLATE_INTROSPECTION')"
                )
            }
            #expect(
                try browser.evaluate("document.querySelector('#schema-download').hidden") == true)
            try browser.evaluate("\(Self.editor).setValue('{ __typename }')")
            try browser.click("#run")
            try browser.wait("\(Self.viewer).getValue().includes('Query')")
            try browser.screenshot("introspection-off")
        }
    }

    private static func signIn(_ browser: Browser) throws {
        try browser.wait("document.querySelector('#sign-in').textContent === 'reader'")
        try browser.click("#sign-in")
        try browser.wait(
            "document.querySelector('#sign-in-audience').value === 'com.example.reader'")
        try browser.evaluate("document.querySelector('#sign-in-subject').value = 'Ada'")
        try browser.click("#sign-in-form .primary")
        try browser.wait("document.querySelector('#token').value.split('.').length === 3")
        try browser.wait("!document.querySelector('#sign-in-dialog').open")
        try browser.wait("document.querySelector('#sign-in').textContent === 'Ada'")
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
        // Several errors on a line have one marker.
        try browser.evaluate("\(editor).replaceRange(' other', \(editor).getCursor())")
        try browser.wait("document.querySelectorAll('.CodeMirror-lint-mark-error').length === 2")
        #expect(
            try browser.evaluate(
                """
                [...document.querySelectorAll('.CodeMirror-lint-marker')]
                  .filter((marker) => getComputedStyle(marker, '::before').content !== 'none').length
                """) == 1)
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
        try browser.wait(
            "document.querySelector('#schema-content .type-name')?.textContent === 'Book'")
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
            try browser.evaluate("document.querySelector('#event-list summary span').textContent")
                == "2. changes: CREATED Shelf")
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
            input: {image: $image}) { coverStatus image { source } } }')
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
                    "setCover": ["coverStatus": "READY", "image": ["source": "MANUAL_UPLOAD"]]
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

    private static func changeTheme(_ browser: Browser) throws {
        try browser.wait("document.querySelector('#schema-content dl')")
        #expect(try browser.evaluate("document.documentElement.dataset.theme") == "light")
        try browser.click("#theme")
        #expect(try browser.evaluate("document.documentElement.dataset.theme") == "dark")
        try browser.click("#theme")
        try browser.press("F1", code: "F1", number: 112)
        try browser.wait("document.querySelector('#shortcuts-dialog').open")
        try browser.click("#shortcuts-dialog .primary")
    }
}
