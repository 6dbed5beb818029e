import GraphQL

/// Answers requests, one JSON object a line, until the end of input.
struct Batch {
    /// Schemas built so far by their text: checks send the same one again and again.
    private var schemas: [String: Result<Schema, RequestErrors>] = [:]
    private static let schemasMax = 32
    /// The tool's own input: any length.
    private static let requestLimits = JSONLimits(bytesMax: .max, nestingMax: 200)

    mutating func answerAll() async {
        while let line = readLine() {
            if line.isEmpty { continue }
            var id = Value.null
            let answer: Answer
            do throws(JSONError) {
                let request = try parseJSON(Array(line.utf8), limits: Self.requestLimits)
                id = request["id"] ?? .null
                answer = await self.answer(request)
            } catch {
                answer = .errors([GraphQLError(error.message)])
            }
            write(answer.line(id: id), to: .standardOutput)
        }
    }

    mutating func answer(_ request: Value) async -> Answer {
        do throws(RequestErrors) {
            return try await perform(request)
        } catch {
            return .errors(error.errors)
        }
    }

    private mutating func perform(_ request: Value) async throws(RequestErrors) -> Answer {
        switch request["op"]?.string {
        case "parse":
            return .tree(syntaxTree(of: try document(request, "source")))
        case "print":
            return .text(print(try document(request, "source")))
        case "validate", "execute":
            let schema: Schema
            do throws(RequestErrors) {
                schema = try self.schema(request)
            } catch {
                return .schemaErrors(error.errors)
            }
            return request["op"]?.string == "validate"
                ? .errors(validate(try document(request, "source"), against: schema))
                : .result(try await execute(request, schema))
        case "introspect":
            return .result(
                try await executeOverJSON(
                    introspectionQuery, operationName: nil, variables: .null, root: .null,
                    schema: try schema(request)))
        case let op:
            throw RequestErrors([GraphQLError("Unknown op \"\(op ?? "")\".")])
        }
    }

    private func execute(
        _ request: Value, _ schema: Schema
    ) async throws(RequestErrors) -> ExecutionResult {
        guard let source = request["source"]?.string else {
            throw RequestErrors([missing("source")])
        }
        return try await executeOverJSON(
            source, operationName: request["operationName"]?.string,
            variables: request["variables"] ?? .null, root: request["root"] ?? .null,
            schema: schema)
    }

    private func missing(_ member: String) -> GraphQLError {
        GraphQLError("The request needs a \"\(member)\", a string.")
    }

    private mutating func schema(_ request: Value) throws(RequestErrors) -> Schema {
        guard let text = request["schema"]?.string else {
            throw RequestErrors([missing("schema")])
        }
        if let known = schemas[text] { return try known.get() }
        let document = try document(request, "schema")
        let schema = Result { () throws(RequestErrors) in try buildSchema(document) }
        if schemas.count >= Self.schemasMax { schemas.removeAll() }
        schemas[text] = schema
        return try schema.get()
    }

    private func document(_ request: Value, _ member: String) throws(RequestErrors) -> Document {
        guard let text = request[member]?.string else {
            throw RequestErrors([missing(member)])
        }
        do throws(GraphQLError) {
            return try parse(Source(text), limits: .trusted)
        } catch {
            throw RequestErrors([error])
        }
    }
}
