import EmbeddedMigrations
import FoundationEssentials
import Testing

/// The migrations in `bookplate-admin` are the files of the folder, byte for byte.
@Suite struct EmbeddedMigrationsTests {
    private static let folder =
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
        .joined(separator: "/") + "/migrations"

    @Test func areTheFilesOfTheFolder() throws {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: Self.folder)
            .filter { $0.hasSuffix(".sql") && $0 != "schema.sql" }
        #expect(
            embeddedDump
                == (try String(contentsOfFile: "\(Self.folder)/schema.sql", encoding: .utf8)))
        #expect(embeddedMigrations.map(\.path) == paths.sorted())
        for file in embeddedMigrations {
            let text = try String(contentsOfFile: "\(Self.folder)/\(file.path)", encoding: .utf8)
            #expect(file.text == text, "\(file.path)")
        }
    }
}
