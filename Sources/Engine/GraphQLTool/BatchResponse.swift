import GraphQL

/// The response to one request.
enum BatchResponse {
    /// A syntax tree as JSON.
    case tree([UInt8])
    case text(String)
    case result(ExecutionResult)
    /// The parts of a response with `@defer` or `@stream` as JSON.
    case parts([[UInt8]])
    /// The errors of the document or the request. Empty for a valid document.
    case errors([GraphQLError])
    case schemaErrors([GraphQLError])

    var errors: [GraphQLError] {
        switch self {
        case .tree, .text, .parts: []
        case .result(let result): result.errors
        case .errors(let errors), .schemaErrors(let errors): errors
        }
    }

    /// Returns the response as one line of JSON.
    func line(id: Value) -> [UInt8] {
        var writer = ResponseWriter()
        writer.append("{\"id\":")
        writer.write(id)
        switch self {
        case .tree(let json):
            writer.append(",\"ast\":")
            writer.append(json)
        case .text(let text):
            writer.append(",\"text\":")
            writer.write(text)
        case .result(let result):
            writer.append(",\"data\":")
            result.data.withUnsafeBufferPointer { writer.append($0) }
            if !result.errors.isEmpty { writer.writeMember(result.errors) }
        case .parts(let parts):
            writer.append(",\"parts\":[")
            for (index, part) in parts.enumerated() {
                if index > 0 { writer.append(UInt8(ascii: ",")) }
                writer.append(part)
            }
            writer.append(UInt8(ascii: "]"))
        case .errors(let errors):
            writer.writeMember(errors)
        case .schemaErrors(let errors):
            writer.append(",\"phase\":\"schema\"")
            writer.writeMember(errors)
        }
        writer.append("}\n")
        return writer.bytes
    }
}

extension ResponseWriter {
    /// Writes the member `errors` with the message, locations, and path of each error.
    fileprivate mutating func writeMember(_ errors: [GraphQLError]) {
        append(",\"errors\":")
        write(.list(errors.map(\.value)))
    }
}

extension GraphQLError {
    fileprivate var value: Value {
        let locationValues = locations.map { location in
            Value.object([
                .init("line", .int(location.line)), .init("column", .int(location.column)),
            ])
        }
        var members: [Value.Member] = [
            .init("message", .string(message)), .init("locations", .list(locationValues)),
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
    /// The value as JSON text.
    var json: String {
        var writer = ResponseWriter()
        writer.write(self)
        return writer.withBytes { String(decoding: $0, as: UTF8.self) }
    }
}
