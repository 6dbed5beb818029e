/// The chain of migrations before the baseline. Only unreleased versions of Bookplate had it.
///
/// Databases with this chain cannot be migrated: the baseline creates the tables that they already have.
package enum ReplacedChain {
    /// The version of the chain's first migration, which every such database has run.
    package static let version: Int64 = 20_261_121_080_000
    /// The name of the chain's first migration.
    package static let name = "create_tenants_and_users"

    /// The message for operators, which says how to move the readers.
    package static let message = """
        the database has the schema of an unreleased version, which cannot be migrated: run bookplate-admin migrate up on \
        an empty database, and move each reader's library with bookplate-admin account export of the old version and the \
        mutation importLibrary of the new one (docs/operations.md, "Moving from an unreleased version")
        """

    /// Whether the records are those of the replaced chain, and the files are not.
    static func isIn(_ records: [MigrationPlan.Record], files: [MigrationFile]) -> Bool {
        records.contains { $0.version == version && $0.name == name }
            && !files.contains { $0.version == version }
    }
}
