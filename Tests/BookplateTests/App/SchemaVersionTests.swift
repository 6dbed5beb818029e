import FoundationEssentials
import TestSupport
import Testing

@testable import Bookplate

@Suite struct SchemaVersionTests {
    /// A server is not ready until the database has the version that it was built for.
    @Test func isTheVersionOfTheLastMigration() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: TestCluster.migrations)
        #expect(names.compactMap { Int64($0.prefix(14)) }.max() == schemaVersion)
    }
}
