import Foundation
import PackagePlugin

/// Generates Swift types and protocols of resolvers from the `.graphql` files of a target, which are one schema together.
///
/// The build system runs the generator again when one of the files changes, and this plugin when files are added or removed.
@main
struct GraphQLTypes: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let files = (target.sourceModule?.sourceFiles.map(\.url) ?? [])
            .filter { ["graphql", "graphqls"].contains($0.pathExtension) }
            .sorted { $0.path < $1.path }
        guard !files.isEmpty else {
            Diagnostics.error("The target \(target.name) has no .graphql file.")
            return []
        }
        let output = context.pluginWorkDirectoryURL.appending(path: "GraphQLTypes.swift")
        return [
            .buildCommand(
                displayName: "Generate Swift types from the GraphQL schema of \(target.name)",
                executable: try context.tool(named: "GraphQLTypesTool").url,
                arguments: [output.path] + files.map(\.path),
                inputFiles: files, outputFiles: [output])
        ]
    }
}
