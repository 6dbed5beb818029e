import FoundationEssentials
import TestSupport
import Testing

@testable import GraphQLExplorer

/// The rules that every JavaScript module of the explorer page follows.
@Suite struct ExplorerPageTests {
    private static let folder = TestCluster.project + "/Sources/Engine/GraphQLExplorer/Page"

    private static let modules =
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
        .filter { $0.hasSuffix(".js") }.sorted()

    @Test func modulesAreFound() {
        #expect(Self.modules.contains("explorer.js"))
    }

    /// The server has the files of the folder, byte for byte.
    @Test func filesAreEmbedded() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder)
        #expect(embeddedFiles.map(\.path) == names.sorted())
        for file in embeddedFiles {
            #expect(file.text == (try Self.text(of: file.path)), "\(file.path)")
        }
    }

    /// Objects own the state of the page, so modules have no variables and do not assign to globals.
    @Test(arguments: modules)
    func modulesHaveNoGlobalState(module: String) throws {
        let text = try Self.text(of: module)
        let variable = /^(?:export )?(?:let|var) .*/.anchorsMatchLineEndings()
        let assignment = /\b(?:globalThis|window)(?:\.\w+|\[[^\]]*\])\s*=[^=].*/
        #expect(text.firstMatch(of: variable)?.output == nil)
        #expect(text.firstMatch(of: assignment)?.output == nil)
    }

    @Test(arguments: modules)
    func modulesBeginWithASentence(module: String) throws {
        #expect(try Self.text(of: module).prefixMatch(of: /\/\/ [A-Z][^\n]+\.\n/) != nil)
    }

    private static func text(of module: String) throws -> String {
        try String(contentsOfFile: "\(folder)/\(module)", encoding: .utf8)
    }
}
