import GraphQL

/// Answers requests, one JSON object a line, until the end of input.
struct Batch {
    /// Schemas built so far by their text: checks send the same one again and again.
    private var schemas: [String: Result<Schema, RequestErrors>] = [:]
    private static let schemasMax = 32
    /// The tool's own input: any length.
    private static let requestLimits = JSONLimits(bytesMax: .max, nestingMax: 1_000)

    mutating func answerAll() async {
        var lines = InputLines()
        while let line = lines.next() {
            var id = Value.null
            let answer: Answer
            do throws(JSONError) {
                let request = try parseJSON(line, limits: Self.requestLimits)
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
        guard case .object = request else { throw refusal("A request is a JSON object.") }
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
        case "introspect":
            return .result(
                try await executeOverJSON(
                    introspectionQuery, operationName: nil, variables: .null, root: .null,
                    schema: try schema(try string(request, "schema"))))
        default:
            throw refusal(
                "There is no op \"\(op)\", but parse, print, validate, introspect and execute.")
        }
    }

    private func execute(
        _ source: String, _ request: Value, _ schema: Schema
    ) async throws(RequestErrors) -> ExecutionResult {
        let variables = request["variables"] ?? .null
        switch variables {
        case .null, .object: break
        default: throw refusal("The request's \"variables\" are no object.")
        }
        let name = request["operationName"] ?? .null
        return try await executeOverJSON(
            source, operationName: name.isNull ? nil : try string(request, "operationName"),
            variables: variables, root: request["root"] ?? .null, schema: schema)
    }

    private func string(_ request: Value, _ member: String) throws(RequestErrors) -> String {
        guard let text = request[member]?.string else {
            throw refusal("The request needs a string as \"\(member)\".")
        }
        return text
    }

    private func refusal(_ message: String) -> RequestErrors {
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
