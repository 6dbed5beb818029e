import Foundation
import Testing

@Suite struct DocumentationTests {
    /// `DocumentationSnippets.swift` is compiled, so the code of the page is, too.
    @Test(arguments: ["use-the-swift-client", "move-from-supabase"])
    func codeOfThePageIsCompiled(_ name: String) throws {
        var root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        let folder = root.deletingLastPathComponent()
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let page = try String(
            contentsOf: root.appendingPathComponent("docs/how-to/\(name).md"), encoding: .utf8)
        let code = Self.plain(
            try String(
                contentsOf: folder.appendingPathComponent("DocumentationSnippets.swift"),
                encoding: .utf8))
        let blocks = page.matches(of: /```swift\n(.*?)```/.dotMatchesNewlines()).map {
            Self.plain(String($0.1))
        }
        #expect(!blocks.isEmpty)
        for block in blocks { #expect(code.contains(block), "\(block)") }
    }

    /// The text without white space and access levels, which differ between the two.
    private static func plain(_ text: String) -> String {
        text.replacing("private ", with: "").filter { !$0.isWhitespace }
    }
}
