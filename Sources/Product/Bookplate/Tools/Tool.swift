import GraphQL

/// An operation as a tool of the Model Context Protocol.
struct Tool: Sendable {
    /// The maximum length of a name. Every GraphQL name consists of characters that the names of tools may contain.
    static let nameCharactersMax = 128

    /// An object of the type `Tool`.
    ///
    /// Spec: https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool
    let json: [UInt8]
    /// The scopes that a caller needs, whatever the values of the variables are.
    let scopes: ScopeSet
    /// The names of the variables that can be sent.
    let argumentNames: [String]

    /// Creates the tool of an operation; nil if tools cannot run it: it has no name or too long a name, is a subscription, or
    /// requires a file.
    ///
    /// - Parameter document: The valid document of the operation.
    init?(
        _ operation: OperationDefinition, scopes: ScopeSet, of document: Document,
        in schema: Schema
    ) {
        guard let name = operation.name?.value, name.utf8.count <= Self.nameCharactersMax,
            operation.kind != .subscription,
            let input = ToolInputSchema.make(
                operation.variables,
                descriptions: VariableDescriptions(operation, of: document, in: schema).texts,
                in: schema)
        else { return nil }
        let rootFields = Self.rootFields(operation, in: schema)
        var writer = ResponseWriter()
        writer.write(
            Value.object([
                .init("name", .string(name)), .init("title", .string(Self.title(name))),
                .init(
                    "description",
                    .string(
                        operation.description?.value
                            ?? Self.comment(above: operation, of: document)
                            ?? rootFields.compactMap(\.description).joined(separator: "\n"))),
                .init("inputSchema", input),
                .init("annotations", .object(Self.annotations(operation.kind, rootFields))),
            ]))
        json = writer.bytes
        self.scopes = scopes
        if case .object(let properties)? = input["properties"] {
            argumentNames = properties.map(\.name)
        } else {
            argumentNames = []
        }
    }

    /// Returns the definitions of the fields that the operation selects directly, without those in fragments.
    private static func rootFields(
        _ operation: OperationDefinition, in schema: Schema
    ) -> [FieldDefinition] {
        operation.selectionSet.selections.compactMap { selection in
            guard case .field(let field) = selection else { return nil }
            return schema.rootType(of: operation.kind)?.field(named: field.name.value)
        }
    }

    /// Returns the words of a name: `Add Book` for `AddBook` and for `add_book`.
    private static func title(_ name: String) -> String {
        var title = ""
        var previous: Character?
        for character in name {
            let isWordStart = previous.map { $0.isLowercase || $0.isNumber } ?? false
            if character == "_" || character.isUppercase && isWordStart { title += " " }
            if character != "_" { title.append(character) }
            previous = character
        }
        let words = title.split(separator: " ").map { $0.prefix(1).uppercased() + $0.dropFirst() }
        return words.isEmpty ? name : words.joined(separator: " ")
    }

    /// Returns the lines of comments directly above an operation, without their `#`; nil if there are none.
    private static func comment(
        above operation: OperationDefinition, of document: Document
    ) -> String? {
        let before = document.source.bytes.prefix(Int(operation.range.start))
        // The last line ends at the operation.
        let lines = before.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .dropLast()
        var texts: [String] = []
        for line in lines.reversed() {
            let text = line.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            guard text.first == UInt8(ascii: "#") else { break }
            let content = text.drop { $0 == UInt8(ascii: "#") || $0 == UInt8(ascii: " ") }
            texts.append(
                String(
                    decoding: content.last == UInt8(ascii: "\r") ? content.dropLast() : content,
                    as: UTF8.self))
        }
        return texts.isEmpty ? nil : texts.reversed().joined(separator: "\n")
    }

    /// Returns hints about the effects of an operation. For a mutation, the verbs in the names of its fields decide.
    private static func annotations(
        _ kind: OperationKind, _ rootFields: [FieldDefinition]
    ) -> [Value.Member] {
        guard kind == .mutation else { return [.init("readOnlyHint", .boolean(true))] }
        func allBegin(with verbs: [String]) -> Bool {
            !rootFields.isEmpty
                && rootFields.allSatisfy { field in verbs.contains { field.name.hasPrefix($0) } }
        }
        var hints: [Value.Member] = [
            .init("readOnlyHint", .boolean(false)),
            .init(
                "destructiveHint",
                .boolean(
                    !allBegin(with: ["create", "start", "log", "record", "fetch", "restore"]))),
        ]
        if allBegin(with: ["update", "set", "delete", "remove"]) {
            hints.append(.init("idempotentHint", .boolean(true)))
        }
        return hints
    }
}

extension BookplateSchema {
    /// Returns the tool of the first operation of a document; nil if the document is not valid, or if tools cannot run the operation.
    func tool(ofDocument text: [UInt8], limits: RequestLimits) async -> Tool? {
        let cache = DocumentCache(schema: schema, resolvers: resolvers, limits: limits)
        guard let document = try? await cache.document(text),
            let first = try? await document.scopes().first
        else { return nil }
        return Tool(first.operation, scopes: first.scopes, of: document.document, in: schema)
    }
}
