import GraphQL
import GraphQLNIO
import NIOCore

/// Checks a document while a developer writes it on the explorer page.
///
/// `POST /explorer/check` with `{"query", "variables"?}` returns `{"errors", "operations": [{"kind", "name",
/// "variables": [{"name", "type"}]}], "variableErrors", "printed"}`. `printed` is null if the document cannot be
/// parsed. The check uses the same parser and validation rules as a request, so it reports the errors that running the
/// document would.
struct ExplorerCheck {
    let schema: Schema
    let limits: RequestLimits

    func route(bodyBytesMax: Int) -> Route {
        Route(.POST, "/explorer/check", bodyBytesMax: bodyBytesMax) { request in
            guard request.headers.contentType == "application/json",
                let input = try? parseJSON(
                    Array(request.body.readableBytesView),
                    limits: JSONLimits(bytesMax: bodyBytesMax)),
                let query = input["query"]?.string
            else {
                return HTTPProblem.badRequest("Send {\"query\"} as application/json.").response()
            }
            var writer = ResponseWriter()
            writer.write(await check(query, variables: input["variables"] ?? .null))
            return HTTPResponse(
                .ok, contentType: ResponseMediaType.json.contentType,
                body: ByteBuffer(bytes: writer.bytes), headers: [("Cache-Control", "no-store")])
        }
    }

    func check(_ query: String, variables: Value) async -> Value {
        let document: Document
        do throws(GraphQLError) {
            document = try parse(Source(query), limits: limits.parsing)
        } catch {
            return Self.result(errors: [error], operations: [], variableErrors: [], printed: .null)
        }
        let errors = validate(
            document, against: schema, limits: limits.operation, options: limits.validation)
        let operations = document.definitions.compactMap { definition in
            if case .operation(let operation) = definition { operation } else { nil }
        }
        // Variable values are checked only if the document is valid and has exactly one operation.
        var variableErrors: [GraphQLError] = []
        if errors.isEmpty, operations.count == 1 {
            do throws(RequestErrors) {
                _ = try await coerceVariableValues(
                    operations[0].variables, given: variables, schema: schema,
                    source: document.source, hasSuggestions: limits.validation.hasSuggestions)
            } catch { variableErrors = error.errors }
        }
        return Self.result(
            errors: errors, operations: operations, variableErrors: variableErrors,
            printed: .string(print(document)))
    }

    private static func result(
        errors: [GraphQLError], operations: [OperationDefinition], variableErrors: [GraphQLError],
        printed: Value
    ) -> Value {
        .object([
            .init("errors", .list(errors.map(json))),
            .init("operations", .list(operations.map(json))),
            .init("variableErrors", .list(variableErrors.map(json))),
            .init("printed", printed),
        ])
    }

    private static func json(_ error: GraphQLError) -> Value {
        .object([
            .init("message", .string(error.message)),
            .init(
                "locations",
                .list(
                    error.locations.map {
                        .object([.init("line", .int($0.line)), .init("column", .int($0.column))])
                    })),
        ])
    }

    private static func json(_ operation: OperationDefinition) -> Value {
        .object([
            .init("kind", .string(operation.kind.rawValue)),
            .init("name", operation.name.map { .string($0.value) } ?? .null),
            .init(
                "variables",
                .list(
                    operation.variables.map {
                        .object([
                            .init("name", .string($0.name.value)),
                            .init("type", .string(print($0.type))),
                        ])
                    })),
        ])
    }
}
