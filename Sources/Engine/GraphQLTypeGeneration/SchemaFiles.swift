import GraphQL

/// The files of a schema as one text. Errors name the file, the line, and the column.
package struct SchemaFiles {
    package struct File {
        let path: String
        let bytes: [UInt8]

        package init(path: String, bytes: [UInt8]) {
            self.path = path
            self.bytes = bytes
        }

        var name: String { path.split(separator: "/").last.map(String.init) ?? path }
    }

    /// The errors of a schema, in the form in which compilers report them.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    let files: [File]
    /// The texts of the files, one after the other. Every line break is `\n`.
    let text: String
    /// The line of `text` at which each file begins, starting at 1.
    private let firstLines: [Int]

    package init(_ files: [File]) throws(Failure) {
        self.files = files
        var text = ""
        var line = 1
        var firstLines: [Int] = []
        for file in files {
            guard let contents = String(validating: file.bytes, as: UTF8.self) else {
                throw Failure(description: "\(file.path):1:1: error: The file is not valid UTF-8.")
            }
            firstLines.append(line)
            // `Character` treats `\r\n` as one line break.
            for part in contents.split(
                omittingEmptySubsequences: false, whereSeparator: { $0.isLineBreak })
            {
                text += part + "\n"
                line += 1
            }
        }
        self.text = text
        self.firstLines = firstLines
    }

    /// Parses and checks the schema.
    func schema() throws(Failure) -> Schema {
        do throws(RequestErrors) {
            return try buildSchema(Source(text))
        } catch {
            throw failure(error.errors)
        }
    }

    /// Returns the failure that these errors of the text are. An error without a location is one of the first file.
    func failure(_ errors: [GraphQLError]) -> Failure {
        Failure(
            description: errors.map { error in
                let location = error.locations.first ?? SourceLocation(line: 1, column: 1)
                let index = firstLines.lastIndex { $0 <= location.line } ?? 0
                let line = location.line - firstLines[index] + 1
                return "\(files[index].path):\(line):\(location.column): error: \(error.message)"
            }.joined(separator: "\n"))
    }
}

extension Character {
    /// Whether GraphQL and Swift end a line here. `isNewline` includes more characters.
    var isLineBreak: Bool { self == "\n" || self == "\r" || self == "\r\n" }
}
