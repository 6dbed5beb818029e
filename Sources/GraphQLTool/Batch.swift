import GraphQL

/// Answers requests, one JSON object a line, until the end of input.
struct Batch {
    /// Schemas built so far by their text: checks send the same one again and again.
    private var schemas: [String: Result<Schema, RequestErrors>] = [:]
    private static let schemasMax = 32
    /// The tool's own input: any length, and nesting that the stack of the main thread holds.
    private static let requestLimits = JSONLimits(bytesMax: .max, nestingMax: 200)

    mutating func run() {
        while let line = readLine() {
            if line.isEmpty { continue }
            let answer: Value
            do throws(JSONError) {
                answer = self.answer(try parseJSON(Array(line.utf8), limits: Self.requestLimits))
            } catch {
                answer = .object([.init("id", .null), .errors([GraphQLError(error.message)])])
            }
            write(answer.json + "\n", to: .standardOutput)
        }
    }

    mutating func answer(_ request: Value) -> Value {
        var members: [Value.Member] = [.init("id", request["id"] ?? .null)]
        do throws(RequestErrors) {
            members += try perform(request)
        } catch {
            members.append(.errors(error.errors))
        }
        return .object(members)
    }

    private mutating func perform(_ request: Value) throws(RequestErrors) -> [Value.Member] {
        switch request["op"]?.string {
        case "parse":
            let document = try document(request, "source")
            return [.init("ast", SyntaxTree(document).value)]
        case "print":
            return [.init("text", .string(print(try document(request, "source"))))]
        case "validate":
            let schema: Schema
            do throws(RequestErrors) {
                schema = try self.schema(request)
            } catch {
                return [.init("phase", .string("schema")), .errors(error.errors)]
            }
            let document = try document(request, "source")
            return [.errors(validate(document, against: schema))]
        case let op:
            throw RequestErrors([GraphQLError("Unknown op \"\(op ?? "")\".")])
        }
    }

    private mutating func schema(_ request: Value) throws(RequestErrors) -> Schema {
        guard let text = request["schema"]?.string else {
            throw RequestErrors([GraphQLError("The request needs a \"schema\", a string.")])
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
            throw RequestErrors([GraphQLError("The request needs a \"\(member)\", a string.")])
        }
        do throws(GraphQLError) {
            return try parse(Source(text), limits: .trusted)
        } catch {
            throw RequestErrors([error])
        }
    }
}

extension Value.Member {
    /// The member `errors`: message, locations and path of each.
    fileprivate static func errors(_ errors: [GraphQLError]) -> Value.Member {
        Value.Member("errors", .list(errors.map(\.value)))
    }
}

extension GraphQLError {
    fileprivate var value: Value {
        var members: [Value.Member] = [
            .init("message", .string(message)),
            .init(
                "locations",
                .list(
                    locations.map {
                        .object([.init("line", .int($0.line)), .init("column", .int($0.column))])
                    })),
        ]
        if let path {
            let elements = path.map { element -> Value in
                switch element {
                case .key(let key): .string(key)
                case .index(let index): .int(index)
                }
            }
            members.append(.init("path", .list(elements)))
        }
        return .object(members)
    }
}

extension Value {
    var json: String {
        var writer = ResponseWriter()
        writer.write(self)
        return writer.withBytes { String(decoding: $0, as: UTF8.self) }
    }
}
