import Foundation
import PackagePlugin

/// Writes the text files of a folder into a Swift file, as the constant `embeddedFiles` of the target: their paths in the folder
/// and their texts, sorted by path.
///
/// The build system runs the script again when a file changes, and this plugin when files are added or removed.
@main
struct EmbedFiles: BuildToolPlugin {
    /// The folder that each target embeds.
    private static let folders = [
        "EmbeddedMigrations": "migrations",
        "GraphQLExplorer": "Sources/Engine/GraphQLExplorer/Page",
    ]
    private static let extensions = [".css", ".html", ".js", ".sql"]

    /// Prints an array of paths and texts. A raw string contains a file's bytes exactly as they are, except for carriage
    /// returns, which the compiler changes.
    private static let script = ###"""
        set -e
        folder=$1 output=$2
        shift 2
        {
            printf 'let embeddedFiles: [(path: String, text: String)] = [\n'
            for path; do
                if grep -q "$(printf '\r')" "$folder/$path"; then
                    echo "$folder/$path: a carriage return cannot be embedded" >&2
                    exit 1
                fi
                printf '("%s", ##"""\n' "$path"
                cat "$folder/$path"
                printf '\n"""##),\n'
            done
            printf ']\n'
        } >"$output"
        """###

    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let name = Self.folders[target.name] else {
            Diagnostics.error("Plugins/EmbedFiles names no folder of the target \(target.name).")
            return []
        }
        let folder = context.package.directoryURL.appending(path: name)
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { path in Self.extensions.contains(where: path.hasSuffix) }.sorted()
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedFiles.swift")
        return [
            .buildCommand(
                displayName: "Embed the files of \(name)", executable: URL(filePath: "/bin/sh"),
                arguments: ["-c", Self.script, "sh", folder.path, output.path] + paths,
                inputFiles: paths.map { folder.appending(path: $0) }, outputFiles: [output])
        ]
    }
}
