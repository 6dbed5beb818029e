import GraphQL

/// Executes requests from standard input, one JSON object per line, until the end of the input.
/// Writes one response per request to standard output.
struct Batch {
    /// The schemas built so far, by their SDL. Clients tend to send the same schema many times.
    private var schemas: [String: Result<Schema, RequestErrors>] = [:]
    private static let schemasMax = 32
    /// Limits for the requests, which are trusted and can have any length.
    private static let requestLimits = JSONLimits(bytesMax: .max, nestingMax: 1_000)

    mutating func run() async {
        var lines = InputLines()
        while let line = lines.next() {
            var id = Value.null
            let response: BatchResponse
            do throws(JSONError) {
                let request = try parseJSON(line, limits: Self.requestLimits)
                id = request["id"] ?? .null
                response = await respond(to: request)
            } catch {
                response = .errors([GraphQLError(error.message)])
            }
            write(response.line(id: id), to: .standardOutput)
        }
    }

    mutating func respond(to request: Value) async -> BatchResponse {
        do throws(RequestErrors) {
            return try await perform(request)
        } catch {
            return .errors(error.errors)
        }
    }

    private mutating func perform(_ request: Value) async throws(RequestErrors) -> BatchResponse {
        guard case .object = request else {
            throw requestError("The request must be a JSON object.")
        }
        let op = try string(request, "op")
        switch op {
        case "parse":
            return .tree(syntaxTree(of: try document(try string(request, "source"))))
        case "print":
            return .text(print(try document(try string(request, "source"))))
        case "validate", "execute":
            let (text, source) = (try string(request, "schema"), try string(request, "source"))
            let schema: Schema
            do throws(RequestErrors) {
                schema = try self.schema(text)
            } catch {
                return .schemaErrors(error.errors)
            }
            return op == "validate"
                ? .errors(validate(try document(source), against: schema))
                : .result(try await execute(source, request, schema))
        case "execute-incrementally":
            let schema = try buildSchema(
                Source(try string(request, "schema")), hasIncrementalDelivery: true)
            return .parts(
                try await executeIncrementallyOverJSON(
                    try string(request, "source"), variables: request["variables"] ?? .null,
                    root: request["root"] ?? .null, schema: schema))
        case "introspect":
            return .result(
                try await executeOverJSON(
                    introspectionQuery, operationName: nil, variables: .null, root: .null,
                    schema: try schema(try string(request, "schema"))))
        default:
            throw requestError(
                "Unknown op \"\(op)\": use parse, print, validate, introspect, execute, or execute-incrementally."
            )
        }
    }

    private func execute(
        _ source: String, _ request: Value, _ schema: Schema
    ) async throws(RequestErrors) -> ExecutionResult {
        let variables = request["variables"] ?? .null
        switch variables {
        case .null, .object: break
        default: throw requestError("The member \"variables\" of the request must be an object.")
        }
        let name = request["operationName"] ?? .null
        return try await executeOverJSON(
            source, operationName: name.isNull ? nil : try string(request, "operationName"),
            variables: variables, root: request["root"] ?? .null, schema: schema)
    }

    private func string(_ request: Value, _ member: String) throws(RequestErrors) -> String {
        guard let text = request[member]?.string else {
            throw requestError("The member \"\(member)\" of the request must be a string.")
        }
        return text
    }

    private func requestError(_ message: String) -> RequestErrors {
        RequestErrors([GraphQLError(message)])
    }

    private mutating func schema(_ text: String) throws(RequestErrors) -> Schema {
        if let known = schemas[text] { return try known.get() }
        let schema = Result { () throws(RequestErrors) in try buildSchema(Source(text)) }
        if schemas.count >= Self.schemasMax { schemas.removeAll() }
        schemas[text] = schema
        return try schema.get()
    }

    private func document(_ text: String) throws(RequestErrors) -> Document {
        do throws(GraphQLError) {
            return try parse(Source(text), limits: .trusted)
        } catch {
            throw RequestErrors([error])
        }
    }
}
