/// The format of the responses of incremental delivery.
public enum IncrementalFormat: Sendable {
    /// The format of the draft of the specification, as in graphql-js 17: `pending`, `incremental`, and `completed`.
    ///
    /// Spec: https://github.com/graphql/graphql-spec/pull/1110
    case draft
    /// The older format that Apollo's clients request with `deferSpec=20220824`: each entry of `incremental` has the whole
    /// path and the label.
    ///
    /// Spec: https://specs.apollo.dev/incremental/v0.1/
    case apollo2022
}

/// The contents of one response of several.
struct IncrementalPayload {
    struct Entry {
        enum Content {
            /// An object as JSON.
            case data([UInt8])
            /// A list as JSON, with the index of its first item in the whole list.
            case items([UInt8], first: Int)

            var byteCount: Int {
                switch self {
                case .data(let json), .items(let json, _): json.count
                }
            }
        }

        let owner: Delivery
        /// The path from the owner to the data.
        let subPath: [GraphQLError.PathElement]
        let content: Content
        let errors: [GraphQLError]
    }

    var pending: [Delivery] = []
    var incremental: [Entry] = []
    /// The ended deliveries. If there are errors, the delivery has failed.
    var completed: [(delivery: Delivery, errors: [GraphQLError])] = []
    var hasNext = false

    var isEmpty: Bool { incremental.isEmpty && completed.isEmpty }

    /// The size of the objects and lists in it.
    var contentByteCount: Int { incremental.reduce(0) { $0 + $1.content.byteCount } }

    var errors: [GraphQLError] { incremental.flatMap(\.errors) + completed.flatMap(\.errors) }

    /// Returns the members that follow `data` in the first response, and its closing brace. They are incomplete if they are
    /// larger than `bytesMax`.
    func membersOfFirstResponse(in format: IncrementalFormat, bytesMax: Int) -> [UInt8] {
        var writer = ResponseWriter(capacity: 256)
        if format == .draft {
            writer.append(",\"pending\":")
            writePending(to: &writer, bytesMax)
        }
        writer.append(hasNext ? ",\"hasNext\":true}" : ",\"hasNext\":false}")
        return writer.bytes
    }

    /// Returns a response after the first one as JSON. It is incomplete if it is larger than `bytesMax`.
    func response(in format: IncrementalFormat, bytesMax: Int) -> [UInt8] {
        var writer = ResponseWriter()
        writer.append(UInt8(ascii: "{"))
        switch format {
        case .draft: writeMembers(to: &writer, bytesMax)
        case .apollo2022: writeApolloMembers(to: &writer, bytesMax)
        }
        writer.append(hasNext ? "\"hasNext\":true}" : "\"hasNext\":false}")
        return writer.bytes
    }

    // MARK: - The draft

    private func writeMembers(to writer: inout ResponseWriter, _ bytesMax: Int) {
        if !pending.isEmpty {
            writer.append("\"pending\":")
            writePending(to: &writer, bytesMax)
            writer.append(UInt8(ascii: ","))
        }
        if !incremental.isEmpty {
            writer.append("\"incremental\":")
            writer.writeList(incremental, bytesMax: bytesMax) { entry, writer in
                Self.writeID(of: entry.owner, to: &writer)
                if !entry.subPath.isEmpty {
                    writer.append(",\"subPath\":")
                    writer.write(entry.subPath)
                }
                Self.write(entry.content, to: &writer)
                Self.write(entry.errors, to: &writer)
            }
            writer.append(UInt8(ascii: ","))
        }
        if !completed.isEmpty {
            writer.append("\"completed\":")
            writer.writeList(completed, bytesMax: bytesMax) { ended, writer in
                Self.writeID(of: ended.delivery, to: &writer)
                Self.write(ended.errors, to: &writer)
            }
            writer.append(UInt8(ascii: ","))
        }
    }

    private func writePending(to writer: inout ResponseWriter, _ bytesMax: Int) {
        writer.writeList(pending, bytesMax: bytesMax) { delivery, writer in
            Self.writeID(of: delivery, to: &writer)
            writer.append(",\"path\":")
            writer.write(delivery.path)
            Self.writeLabel(of: delivery, to: &writer)
        }
    }

    /// Writes the id as a string. Only announced deliveries are part of a response, so there is one.
    private static func writeID(of delivery: Delivery, to writer: inout ResponseWriter) {
        writer.append("\"id\":\"")
        writer.write(delivery.id ?? 0)
        writer.append(UInt8(ascii: "\""))
    }

    private static func writeLabel(of delivery: Delivery, to writer: inout ResponseWriter) {
        guard let label = delivery.label else { return }
        writer.append(",\"label\":")
        writer.write(label)
    }

    private static func write(_ content: Entry.Content, to writer: inout ResponseWriter) {
        switch content {
        case .data(let json):
            writer.append(",\"data\":")
            writer.append(json)
        case .items(let json, _):
            writer.append(",\"items\":")
            writer.append(json)
        }
    }

    private static func write(_ errors: [GraphQLError], to writer: inout ResponseWriter) {
        guard !errors.isEmpty else { return }
        writer.append(",\"errors\":")
        writer.write(errors)
    }

    // MARK: - Apollo's format

    private func writeApolloMembers(to writer: inout ResponseWriter, _ bytesMax: Int) {
        var entries = incremental.map { entry -> ApolloEntry in
            switch entry.content {
            case .data(let json):
                ApolloEntry(
                    name: "data", json: json, path: entry.owner.path + entry.subPath,
                    label: entry.subPath.isEmpty ? entry.owner.label : nil, errors: entry.errors)
            case .items(let json, let first):
                ApolloEntry(
                    name: "items", json: json, path: entry.owner.path + [.index(first)],
                    label: entry.owner.label, errors: entry.errors)
            }
        }
        let delivered = Set(
            incremental.filter(\.subPath.isEmpty).map { ObjectIdentifier($0.owner) })
        for (delivery, errors) in completed {
            if let list = delivery as? ListStream {
                if errors.isEmpty { continue }
                entries.append(
                    ApolloEntry(
                        name: "items", json: Array("null".utf8),
                        path: list.path + [.index(list.next)], label: list.label, errors: errors))
            } else if !errors.isEmpty {
                entries.append(
                    ApolloEntry(
                        name: "data", json: Array("null".utf8), path: delivery.path,
                        label: delivery.label, errors: errors))
            } else if !delivered.contains(ObjectIdentifier(delivery)) {
                // A client recognizes the end of a fragment by an entry with its path and label.
                entries.append(
                    ApolloEntry(
                        name: "data", json: Array("{}".utf8), path: delivery.path,
                        label: delivery.label, errors: []))
            }
        }
        if entries.isEmpty { return }
        writer.append("\"incremental\":")
        writer.writeList(entries, bytesMax: bytesMax) { entry, writer in
            writer.write(entry.name)
            writer.append(UInt8(ascii: ":"))
            writer.append(entry.json)
            writer.append(",\"path\":")
            writer.write(entry.path)
            if let label = entry.label {
                writer.append(",\"label\":")
                writer.write(label)
            }
            Self.write(entry.errors, to: &writer)
        }
        writer.append(UInt8(ascii: ","))
    }

    private struct ApolloEntry {
        let name: String
        let json: [UInt8]
        let path: [GraphQLError.PathElement]
        let label: String?
        let errors: [GraphQLError]
    }
}

extension ResponseWriter {
    /// Writes a list of objects. `body` writes the members of each. Stops when more than `bytesMax` bytes are written.
    fileprivate mutating func writeList<Element>(
        _ elements: [Element], bytesMax: Int, _ body: (Element, inout ResponseWriter) -> Void
    ) {
        append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if count > bytesMax { return }
            append(index > 0 ? ",{" : "{")
            body(element, &self)
            append(UInt8(ascii: "}"))
        }
        append(UInt8(ascii: "]"))
    }

    /// Writes the path of an error or of a part of the response.
    mutating func write(_ path: [GraphQLError.PathElement]) {
        append(UInt8(ascii: "["))
        for (index, element) in path.enumerated() {
            if index > 0 { append(UInt8(ascii: ",")) }
            switch element {
            case .key(let key): write(key)
            case .index(let index): write(index)
            }
        }
        append(UInt8(ascii: "]"))
    }
}
