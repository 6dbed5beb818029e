import ArgumentParser
import Basics
import Bookplate
import GraphQL
import Operations
import Requests

extension Documents {
    struct Scopes: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the scopes that personal access tokens need for documents.",
            discussion: """
                FILE is a GraphQL document or a manifest of Apollo or Relay. The scopes are those of all fields, also of \
                fields that @skip or @include leaves out of some requests. Exits with 2 if a document is invalid.

                Examples:
                  bookplate-admin documents scopes backup.graphql
                  bookplate-admin documents scopes persisted-query-manifest.json --json
                """)

        @OptionGroup var output: OutputOptions
        @ArgumentParser.Argument(help: "The path of the file.", completion: .file())
        var file: String

        private struct Row {
            let id: String?
            let scopes: OperationScopes

            var json: Value {
                .object([
                    .init("id", id.map { .string($0) } ?? .null),
                    .init("name", scopes.name.map { .string($0) } ?? .null),
                    .init("type", .string(scopes.kind)),
                    .init("scopes", .list(scopes.scopes.map { .string($0) })),
                    .init("isSessionOnly", .boolean(scopes.isSessionOnly)),
                ])
            }

            var cells: [String] {
                let names = scopes.scopes.isEmpty ? "none" : scopes.scopes.joined(separator: " ")
                return [
                    id ?? "-", scopes.name ?? "-", scopes.kind,
                    scopes.isSessionOnly ? "not possible with a token" : names,
                ]
            }
        }

        func run() async throws {
            let bytes = try readFile(file)
            let schema: BookplateSchema
            do throws(RequestErrors) {
                schema = try BookplateSchema(sdl: BookplateSchema.text)
            } catch {
                throw Failure(error.errors.map(\.message).joined(separator: "\n"))
            }
            var rows: [Row] = []
            var problemsCount = 0
            for (id, text) in try documents(bytes) {
                do throws(RequestErrors) {
                    rows += try await schema.scopes(ofDocument: text).map {
                        Row(id: id, scopes: $0)
                    }
                } catch {
                    problemsCount += 1
                    for problem in error.errors {
                        printError("\(id ?? file): \(problem.message)")
                    }
                }
            }
            output.print(
                .list(rows.map(\.json)),
                Table(["id", "name", "type", "scopes"], rows.map(\.cells)))
            if problemsCount > 0 { throw ExitStatus.found.code }
        }

        /// Returns the documents of a manifest with their IDs, or the only document.
        private func documents(_ bytes: [UInt8]) throws -> [(id: String?, text: [UInt8])] {
            guard (try? parseJSON(bytes, limits: JSONLimits(bytesMax: bytes.count))) != nil else {
                return [(nil, bytes)]
            }
            do throws(DocumentManifest.Problem) {
                return try DocumentManifest(bytes).entries.map { ($0.id, Array($0.body.utf8)) }
            } catch {
                throw Failure("\(file): \(error.message)")
            }
        }
    }
}
