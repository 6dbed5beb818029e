/// The name of the dump in `migrations/`.
private let dumpName = "schema.sql"

/// The files of `migrations/` when this program was built: their paths in that folder, and their texts.
///
/// The plugin EmbedFiles generates `embeddedFiles`.
package var embeddedMigrations: [(path: String, text: String)] {
    embeddedFiles.filter { $0.path != dumpName }
}

/// The dump `migrations/schema.sql`, which contains all privileges, policies, and tables with row-level security.
package var embeddedDump: String {
    embeddedFiles.first { $0.path == dumpName }?.text ?? ""
}
