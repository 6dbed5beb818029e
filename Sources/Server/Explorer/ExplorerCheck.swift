import GraphQL
import NIOCore

/// What the engine says of a document while a person writes it: for the explorer page.
///
/// `POST /explorer/check` with `{"query", "variables"?}` answers
/// `{"errors", "operations": [{"kind", "name", "variables": [{"name", "type"}]}], "variableErrors", "printed"}`.
/// `printed` is null for a document that cannot be parsed. The same parser and rules as for a request, so what this finds is
/// what running would.
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
            writer.write(answer(query, variables: input["variables"] ?? .null))
            return HTTPResponse(
                .ok, contentType: ResponseMediaType.json.contentType,
                body: ByteBuffer(bytes: writer.bytes), headers: [("cache-control", "no-store")])
        }
    }

    func answer(_ query: String, variables: Value) -> Value {
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
        // Values are checked where it is certain which operation they are for, and that it is valid.
        var variableErrors: [GraphQLError] = []
        if errors.isEmpty, operations.count == 1 {
            do throws(RequestErrors) {
                _ = try coerceVariableValues(
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
