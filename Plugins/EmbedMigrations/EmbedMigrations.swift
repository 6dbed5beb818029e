import Foundation
import PackagePlugin

/// Writes the files of `migrations/` into a Swift file, so that `bookplate-admin` contains them. From the dump, it takes only
/// the statements about privileges and row-level security.
///
/// The build system runs the script again when a file changes, and this plugin when files are added or removed.
@main
struct EmbedMigrations: BuildToolPlugin {
    /// Prints an array of paths and texts. A raw string contains a file's bytes exactly as they are.
    private static let script = ###"""
        set -e
        folder=$1 output=$2
        shift 2
        {
            printf 'let migrationTexts: [(path: String, text: String)] = [\n'
            for path; do
                printf '("%s", ##"""\n' "$path"
                cat "$folder/$path"
                printf '\n"""##),\n'
            done
            printf ']\nlet accessText = ##"""\n'
            grep -E '^(GRANT|REVOKE|CREATE POLICY|ALTER TABLE .* ROW LEVEL SECURITY)' "$folder/schema.sql"
            printf '"""##\n'
        } >"$output"
        """###

    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let folder = context.package.directoryURL.appending(path: "migrations")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".sql") && $0 != "schema.sql" }.sorted()
        let output = context.pluginWorkDirectoryURL.appending(path: "MigrationTexts.swift")
        return [
            .buildCommand(
                displayName: "Embed the migrations", executable: URL(filePath: "/bin/sh"),
                arguments: ["-c", Self.script, "sh", folder.path, output.path] + paths,
                inputFiles: (paths + ["schema.sql"]).map { folder.appending(path: $0) },
                outputFiles: [output])
        ]
    }
}
