import Foundation
import GraphQLTypeGeneration

/// Generates Swift source from the files of a schema. The plugin GraphQLTypes runs it. The arguments are the file to write and
/// the files to read.
@main
struct GraphQLTypesTool {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        guard let output = arguments.first, arguments.count > 1 else {
            fail("usage: GraphQLTypesTool OUTPUT FILE…")
        }
        do {
            let files = try arguments.dropFirst().map { path in
                SchemaFiles.File(
                    path: path, bytes: Array(try Data(contentsOf: URL(filePath: path))))
            }
            let code = try generateTypes(SchemaFiles(files))
            try Data(code.utf8).write(to: URL(filePath: output))
        } catch let error as SchemaFiles.Failure {
            fail(error.description)
        } catch {
            fail("error: \(error)")
        }
    }

    private static func fail(_ message: String) -> Never {
        FileHandle.standardError.write(Data((message + "\n").utf8))
        exit(1)
    }
}
