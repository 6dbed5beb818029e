import Foundation
import PackagePlugin

/// Writes a Swift file with `schemaVersion` and `functionsChecksum`, which describe `migrations/` when a program is built.
///
/// The build system runs the script again when a file changes, and this plugin when files are added or removed.
@main
struct SchemaVersion: BuildToolPlugin {
    /// The checksum is computed as the migrator does it: the SHA-256 of sorted lines with a file's name and its SHA-256.
    private static let script = ###"""
        set -e
        folder=$1 version=$2 output=$3
        cd "$folder/functions"
        checksum=$(for file in *.sql; do
            printf '%s %s\n' "${file%.sql}" "$(sha256sum <"$file" | cut -d ' ' -f 1)"
        done | LC_ALL=C sort | sha256sum | cut -d ' ' -f 1)
        cat >"$output" <<END
        /// The version of the newest migration when this program was built.
        package let schemaVersion: Int64 = $version

        /// The checksum of all files in \`migrations/functions\` when this program was built.
        package let functionsChecksum = "$checksum"
        END
        """###

    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let folder = context.package.directoryURL.appending(path: "migrations")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".sql") }
        let versions = files.compactMap { Int64($0.prefix { $0.isNumber }) }
        guard let version = versions.max() else {
            Diagnostics.error("migrations has no file whose name begins with a time.")
            return []
        }
        let output = context.pluginWorkDirectoryURL.appending(path: "SchemaVersion.swift")
        return [
            .buildCommand(
                displayName: "Compute the version of the schema",
                executable: URL(filePath: "/bin/sh"),
                arguments: ["-c", Self.script, "sh", folder.path, "\(version)", output.path],
                inputFiles: files.filter { $0.hasPrefix("functions/") }
                    .map { folder.appending(path: $0) },
                outputFiles: [output])
        ]
    }
}
