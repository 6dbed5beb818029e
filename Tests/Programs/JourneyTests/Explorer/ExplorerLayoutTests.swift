import GraphQL
import TestSupport
import Testing

/// The arrangement of the explorer page in a real browser, and its accessibility.
@Suite struct ExplorerLayoutTests {
    /// The width and the height of a window, and the panels that are opened in it.
    struct Screen: Sendable, CustomTestStringConvertible {
        let width: Int
        let height: Int
        let panels: [String]
        var testDescription: String { "\(width) × \(height)" }
    }

    static let screens = [
        Screen(width: 1440, height: 900, panels: ["builder-panel", "history-panel"]),
        Screen(width: 1000, height: 700, panels: ["builder-panel"]),
        Screen(
            width: 390, height: 844,
            panels: [
                "request-panel", "response-panel", "builder-panel", "history-panel", "schema-panel",
            ]),
    ]

    /// The elements of the page that are not completely inside of the window. Lists that scroll by themselves may have
    /// such parts.
    private static let hiddenParts = """
        [...document.querySelectorAll('header *, main > section, main > section > *')]
          .filter((element) => element.checkVisibility() && !element.closest('#tabs')
            && !element.closest('section.left'))
          .filter((element) => {
            const {left, right, top, bottom} = element.getBoundingClientRect();
            return left < 0 || top < 0 || right > innerWidth + 0.5 || bottom > innerHeight + 0.5;
          }).map((element) => element.id || element.outerHTML.slice(0, 80))
        """

    private static func violations(_ browser: Browser) throws -> Value {
        try browser.evaluate(
            """
            axe.run(document).then(({violations}) => violations.map(({id, nodes}) =>
              `${id}: ${nodes.map(({target, failureSummary}) => `${target.join(' ')} ${failureSummary}`).join('; ')}`))
            """)
    }

    /// Nothing is off screen, and axe finds no violations, in both themes.
    @Test(arguments: screens)
    func panelsAreVisibleAndAccessible(screen: Screen) async throws {
        let axe = try await PythonEnvironment.axe()
        let page = try await ExplorerPage.open()
        try await page.use { browser in
            try ExplorerPage.waitForSession(browser)
            try browser.call("Page.setBypassCSP", ["enabled": true])
            try browser.setScreen(width: screen.width, height: screen.height)
            try browser.call("Page.reload")
            try browser.wait("document.querySelector('#schema-content dl')")
            try browser.evaluate(axe)
            func check(_ name: String) throws {
                for _ in 0..<2 {
                    #expect(try Self.violations(browser) == [], "\(name)")
                    try browser.click("#theme")
                }
                #expect(try browser.evaluate(Self.hiddenParts) == [], "\(name)")
                #expect(
                    try browser.evaluate(
                        "document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <= innerHeight"
                    ) == true, "\(name)")
                try browser.screenshot("\(screen.width)-\(name)")
            }
            try check("start")
            try browser.click("#run")
            try browser.wait("document.querySelector('#response-viewer img')")
            try check("response")
            for panel in screen.panels {
                try browser.click("#panel-buttons [aria-controls='\(panel)']")
                #expect(try browser.evaluate("document.querySelector('#\(panel)').hidden") == false)
                try check(panel)
            }
            for (button, dialog) in [
                ("#save", "save-dialog"), ("#sign-in", "sign-in-dialog"),
                ("#show-shortcuts", "shortcuts-dialog"),
            ] {
                try browser.click(button)
                try browser.wait("document.querySelector('#\(dialog)').open")
                #expect(try Self.violations(browser) == [], "\(dialog)")
                try browser.evaluate("document.querySelector('#\(dialog)').close()")
            }
        }
    }

    @Test func subscriptionsAreAccessible() async throws {
        let axe = try await PythonEnvironment.axe()
        let page = try await ExplorerPage.open()
        try await page.use { browser in
            try ExplorerPage.waitForSession(browser)
            try browser.call("Page.setBypassCSP", ["enabled": true])
            try browser.call("Page.reload")
            try browser.wait("document.querySelector('#schema-content dl')")
            try ExplorerPage.enter("subscription { changes { kind typename } }", browser)
            try browser.click("#run")
            try browser.wait(
                "document.querySelector('#response-status').textContent.includes('Waiting')")
            try browser.evaluate(
                """
                import('/explorer/client.js').then(({sendRequest}) => sendRequest({token: document.querySelector('#token').value,
                  query: 'mutation { createShelf(input: {name: "A"}) { id } }'}))
                """)
            try browser.wait("document.querySelector('#event-list li')")
            try browser.evaluate(axe)
            #expect(try Self.violations(browser) == [])
        }
    }

    /// The lines between panels resize them by pointer and keyboard. The sizes are kept.
    @Test func panelsAreResizable() async throws {
        let page = try await ExplorerPage.open()
        try await page.use { browser in
            func size(_ element: String, _ dimension: String) throws -> Double {
                try browser.point(
                    "[document.querySelector('\(element)').getBoundingClientRect().\(dimension), 0]"
                ).x
            }
            try browser.press("b", code: "KeyB", number: 66, modifiers: 1)
            for (name, element, dimension, shift) in [
                ("left-size", "#builder-panel", "width", 60.0),
                ("request-size", "#request-panel", "width", -50.0),
                ("schema-size", "#schema-panel", "width", -40.0),
                ("parts-size", "#request-parts", "height", -80.0),
            ] {
                let splitter = ".splitter[data-size=\(name)]"
                let before = try size(element, dimension)
                let start = try browser.center(of: splitter)
                let isVertical = dimension == "width"
                try browser.drag(
                    from: start,
                    to: .init(
                        x: start.x + (isVertical ? shift : 0), y: start.y + (isVertical ? 0 : shift)
                    ))
                let grows = ["left-size", "request-size"].contains(name) ? shift : -shift
                #expect(abs(try size(element, dimension) - before - grows) < 2, "\(name)")
                try browser.evaluate("document.querySelector('\(splitter)').focus()")
                let key = isVertical ? "ArrowLeft" : "ArrowUp"
                let dragged = try size(element, dimension)
                try browser.press(key, code: key, number: isVertical ? 37 : 38)
                let step = ["left-size", "request-size"].contains(name) ? -24.0 : 24.0
                #expect(abs(try size(element, dimension) - dragged - step) < 2, "\(name)")
            }
            let sizes = try ["#builder-panel", "#schema-panel"].map { try size($0, "width") }
            try browser.call("Page.reload")
            try browser.wait("document.querySelector('#schema-content dl')")
            let restored = try ["#builder-panel", "#schema-panel"].map { try size($0, "width") }
            #expect(zip(sizes, restored).allSatisfy { abs($0 - $1) < 2 })
            // Panels cannot push others out of the window.
            try browser.setScreen(width: 1000, height: 700)
            try browser.wait("document.documentElement.scrollWidth <= innerWidth")
            #expect(try browser.evaluate(Self.hiddenParts) == [])
        }
    }
}
