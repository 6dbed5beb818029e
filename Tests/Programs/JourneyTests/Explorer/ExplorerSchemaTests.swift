import GraphQL
import TestSupport
import Testing

/// The documentation and the builder of the explorer page in a real browser.
@Suite struct ExplorerSchemaTests {
    private static let editor = ExplorerPage.editor

    private static func query(_ browser: Browser) throws -> String {
        try browser.evaluate("\(editor).getValue()").string ?? ""
    }

    /// Moves the pointer to the first occurrence of a text in the query.
    private static func point(at text: String, _ browser: Browser) throws {
        try browser.moveMouse(to: .init(x: 1, y: 1))
        // The explanation of another name may cover this one.
        try browser.wait("document.querySelector('#hover-card').hidden")
        let point = try browser.point(
            """
            (() => {
              const offset = \(editor).getValue().indexOf(\(Browser.quoted(text)));
              const {left, top, bottom} = \(editor).charCoords(\(editor).posFromIndex(offset + 1), 'window');
              return [left + 2, (top + bottom) / 2];
            })()
            """)
        try browser.moveMouse(to: point)
    }

    @Test func namesAreExplained() async throws {
        let page = try await ExplorerPage.open()
        try await page.use { browser in
            try ExplorerPage.enter(
                """
                query Example($order: BookOrder) {
                  me {
                    books(orderBy: $order, status: READING) { nodes { ... on Book { title } } }
                  }
                }
                mutation { createShelf(input: {name: "A"}) { id } }
                """, browser)
            for (text, signature, description) in [
                ("books(", "User.books(", "Books"),
                ("status", "status: ReadingStatus", ""),
                ("READING", "ReadingStatus.READING", ""),
                ("BookOrder", "enum BookOrder", "order"),
                ("title", "Book.title: String!", ""),
                ("name:", "CreateShelfInput.name: String!", ""),
            ] {
                try Self.point(at: text, browser)
                let card = "document.querySelector('#hover-card')"
                try browser.wait(
                    "!\(card).hidden && \(card).textContent.startsWith(\(Browser.quoted(signature)))"
                )
                let shown = try browser.evaluate("\(card).textContent").string ?? ""
                #expect(shown.localizedCaseContains(description), "\(shown)")
            }
            try browser.screenshot("hover")
            try browser.click("#hover-card button")
            try browser.wait(
                "document.querySelector('#schema-content dt.opened [data-member=name]')")
            #expect(
                try browser.evaluate("document.querySelector('.type-name').textContent")
                    == "CreateShelfInput")
            // The keyboard opens the name at the cursor.
            try browser.evaluate("\(Self.editor).setCursor(2, 6), \(Self.editor).focus()")
            try browser.press("j", code: "KeyJ", number: 74, modifiers: 1)
            try browser.wait("document.querySelector('.type-name').textContent === 'User'")
            try browser.wait("document.querySelector('dt.opened [data-member=books]')")
        }
    }

    @Test func descriptionsAreSearchedAndRendered() async throws {
        let page = try await ExplorerPage.open()
        try await page.use { browser in
            // "quota" is in the names of some members, and in the descriptions of others.
            try browser.evaluate(
                """
                (() => {
                  const field = document.querySelector('#schema-search');
                  field.value = 'used up';
                  field.dispatchEvent(new Event('input'));
                })()
                """)
            try browser.wait(
                "document.querySelector('#schema-content .link').textContent === 'ErrorCode.QUOTA_EXCEEDED'"
            )
            #expect(
                try browser.evaluate("document.querySelector('#schema-content mark').textContent")
                    == "used up")
            // Code that names a part of the schema is a link.
            try browser.evaluate(
                "[...document.querySelectorAll('#schema-content dd .link')].find((one) => one.textContent === 'User.storage').click()"
            )
            try browser.wait("document.querySelector('dt.opened [data-member=storage]')")
            let html = try browser.evaluate(
                """
                import('/explorer/markdown.js').then(({renderMarkdown}) => {
                  const text = 'See `a` and **b** or *c*:\\n\\n- one\\n- two\\n  lines\\n\\n1. <b>x</b> [y](https://example.org/y)';
                  const element = document.createElement('div');
                  element.append(...renderMarkdown(text));
                  return element.innerHTML;
                })
                """)
            #expect(
                html.string
                    == "<p>See <code>a</code> and <strong>b</strong> or <em>c</em>:</p><ul><li>one</li><li>two lines</li></ul>"
                    + "<ol><li>&lt;b&gt;x&lt;/b&gt; <a href=\"https://example.org/y\" target=\"_blank\" rel=\"noopener\">y</a></li></ol>"
            )
        }
    }

    @Test func theSchemaCanBeDownloaded() async throws {
        let page = try await ExplorerPage.open()
        try await page.use { browser in
            let link = "document.querySelector('#schema-download')"
            #expect(try browser.evaluate("\(link).checkVisibility()") == true)
            #expect(try browser.evaluate("\(link).download") == "schema.graphql")
            let text = try browser.evaluate("fetch(\(link).href).then((one) => one.text())")
            #expect(text.string?.contains("type Query {") == true)
        }
    }

    /// Selects optional arguments, fields of input objects, and variables.
    @Test func argumentsAreBuilt() async throws {
        let page = try await ExplorerPage.open()
        try await page.use { browser in
            func click(_ path: String, expect text: String) throws {
                try browser.click("[data-path='\(path)']")
                try browser.wait(
                    "\(Self.editor).getValue().replace(/\\s+/g, ' ').includes(\(Browser.quoted(text)))"
                )
            }
            func set(_ path: String, _ value: String, expect text: String) throws {
                try browser.evaluate(
                    """
                    (() => {
                      const field = document.querySelector("[data-path='\(path)']");
                      field.value = \(Browser.quoted(value));
                      field.dispatchEvent(new Event('change'));
                    })()
                    """)
                try browser.wait(
                    "\(Self.editor).getValue().replace(/\\s+/g, ' ').includes(\(Browser.quoted(text)))"
                )
            }
            try ExplorerPage.enter("{ me { id } }", browser)
            try browser.press("b", code: "KeyB", number: 66, modifiers: 1)
            try browser.wait("document.querySelector('[data-path=\"query/me/books\"]')")
            try click("query/me/books", expect: "books { nodes { id } }")
            try click("query/me/books(status)", expect: "books(status: WANT_TO_READ)")
            try set("query/me/books(status)=", "READ", expect: "books(status: READ)")
            try click("query/me/books(search)", expect: #"search: """#)
            try set("query/me/books(search)=", "du\"ne", expect: #"search: "du\"ne""#)
            // Both values become variables, and one becomes a literal again.
            try click("query/me/books(search)$", expect: "query ($search: String) {")
            try click("query/me/books(status)$", expect: "status: $status, search: $search")
            #expect(
                try browser.evaluate("JSON.parse(\(ExplorerPage.variables).getValue())")
                    == ["search": "du\"ne", "status": "READ"])
            try click("query/me/books(status)$", expect: "status: READ, search: $search")
            #expect(
                try browser.evaluate("JSON.parse(\(ExplorerPage.variables).getValue())")
                    == ["search": "du\"ne"])
            try browser.screenshot("arguments")
            try click("query/me/books(search)", expect: "{ me { id books(status: READ) {")
            #expect(try browser.evaluate("\(ExplorerPage.variables).getValue()") == "")
            try click("query/me/books(status)", expect: "books {")
            // Fields of input objects, and files, which are always variables.
            try click("mutation/createShelf", expect: #"createShelf(input: {name: ""})"#)
            try click(
                "mutation/createShelf(input)(id)",
                expect: #"createShelf(input: {name: "", id: ""})"#)
            try click("mutation/createShelf(input)(id)", expect: #"createShelf(input: {name: ""})"#)
            try click(
                "mutation/setCover", expect: #"setCover(id: "", input: {url: ""}) { id }"#)
            try click(
                "mutation/setCover(input)(image)",
                expect: #"setCover(id: "", input: {image: $image})"#)
            try browser.wait(
                "\(Self.editor).getValue().includes('mutation MyMutation($image: Upload!)')")
            try browser.wait("!document.querySelector('.CodeMirror-lint-mark-error')")
            #expect(browser.errors == [])
        }
    }
}

extension String {
    fileprivate func localizedCaseContains(_ text: String) -> Bool {
        text.isEmpty || lowercased().contains(text.lowercased())
    }
}
