import GraphQL

/// What a request is answered with.
enum Answer {
    /// The JSON of a syntax tree.
    case tree([UInt8])
    case text(String)
    case result(ExecutionResult)
    /// Of the document, or of the request itself; none for a valid document.
    case errors([GraphQLError])
    case schemaErrors([GraphQLError])

    var errors: [GraphQLError] {
        switch self {
        case .tree, .text: []
        case .result(let result): result.errors
        case .errors(let errors), .schemaErrors(let errors): errors
        }
    }

    /// As one line of JSON.
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
    /// The member `errors`: message, locations and path of each.
    fileprivate mutating func writeMember(_ errors: [GraphQLError]) {
        append(",\"errors\":")
        write(.list(errors.map(\.value)))
    }
}

extension GraphQLError {
    fileprivate var value: Value {
        let places = locations.map { location in
            Value.object([
                .init("line", .int(location.line)), .init("column", .int(location.column)),
            ])
        }
        var members: [Value.Member] = [
            .init("message", .string(message)), .init("locations", .list(places)),
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
    /// As JSON text.
    var json: String {
        var writer = ResponseWriter()
        writer.write(self)
        return writer.withBytes { String(decoding: $0, as: UTF8.self) }
    }
}
