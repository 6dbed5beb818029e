/// The files of `migrations/` when this program was built: their paths in that folder, and their texts.
///
/// The plugin EmbedMigrations generates `migrationTexts` and `accessText`.
package var embeddedMigrations: [(path: String, text: String)] { migrationTexts }

/// The statements of `migrations/schema.sql` that grant and revoke privileges, create policies, and enable row-level security,
/// one per line.
package var embeddedAccessStatements: String { accessText }
