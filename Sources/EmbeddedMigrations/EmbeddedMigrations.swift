/// The files of `migrations/` when this program was built: their paths in that folder, and their texts.
///
/// The plugin EmbedMigrations generates `migrationTexts`.
package var embeddedMigrations: [(path: String, text: String)] { migrationTexts }
