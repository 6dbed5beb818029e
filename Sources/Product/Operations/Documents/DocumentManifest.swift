import Basics
import GraphQL
import Identity

/// The operations of a published app, as its build tools list them.
///
/// There are two formats: Apollo's (`{"format": "apollo-persisted-query-manifest", "version": 1, "operations": [{id, name, type,
/// body}]}`) and Relay's (`{"id": "text"}`).
package struct DocumentManifest: Sendable {
    package struct Entry: Sendable, Equatable {
        package let id: String
        package let name: String?
        package let kind: OperationKind?
        package let body: String

        /// The hash of the body in lower-case hexadecimal digits.
        package var sha256: String { lowercaseHex(Identity.sha256(body.utf8)) }
    }

    package let entries: [Entry]

    /// The reason why a manifest is rejected.
    package struct Problem: Error, Equatable {
        package let message: String
    }

    static let idCharactersMax = 200

    /// Reads a manifest in one of the formats.
    ///
    /// - Throws: If the text is not JSON or has another format, or if an ID is empty or too long.
    package init(_ bytes: [UInt8]) throws(Problem) {
        let json = try mappingError({ Problem(message: "the manifest is not JSON: \($0.message)") })
        {
            () throws(JSONError) in
            try parseJSON(bytes, limits: JSONLimits(bytesMax: bytes.count))
        }
        guard case .object(let members) = json else {
            throw Problem(message: "the manifest is not a JSON object")
        }
        entries =
            if json["format"] != nil {
                try Self.apollo(json)
            } else {
                try members.map { member throws(Problem) in
                    guard let body = member.value.string else {
                        throw Problem(
                            message: "\(member.name) is not a string: the manifest has neither "
                                + "Apollo's format nor Relay's")
                    }
                    return try Entry(id: member.name, body: body)
                }
            }
    }

    private static func apollo(_ json: Value) throws(Problem) -> [Entry] {
        guard json["format"]?.string == "apollo-persisted-query-manifest", json["version"]?.int == 1
        else {
            throw Problem(
                message: "the manifest's format is not apollo-persisted-query-manifest, version 1")
        }
        guard let operations = json["operations"]?.list else {
            throw Problem(message: "the manifest has no list of operations")
        }
        return try operations.map { operation throws(Problem) in
            guard let id = operation["id"]?.string, let body = operation["body"]?.string else {
                throw Problem(message: "an operation of the manifest has no ID or no body")
            }
            return try Entry(id: id, body: body)
        }
    }

    /// Validates each document in the same way as the server does before it executes one.
    ///
    /// - Returns: One message for each document that the server would reject.
    package func problems(
        with schema: Schema, options: ValidationOptions = ValidationOptions()
    ) -> [String] {
        entries.compactMap { entry in
            let errors: [GraphQLError]
            do throws(GraphQLError) {
                errors = validate(
                    try parse(Source(entry.body), limits: .trusted), against: schema,
                    options: options)
            } catch {
                errors = [error]
            }
            return errors.first.map { "\(entry.id): \($0.message)" }
        }
    }
}

extension DocumentManifest.Entry {
    /// Reads the name and kind of the document's first operation.
    fileprivate init(id: String, body: String) throws(DocumentManifest.Problem) {
        guard !id.isEmpty, id.unicodeScalars.count <= DocumentManifest.idCharactersMax,
            !id.utf8.contains(0)
        else {
            throw .init(
                message:
                    "an ID must have 1 to \(DocumentManifest.idCharactersMax) characters: \(id)")
        }
        self.id = id
        self.body = body
        var operation: OperationDefinition?
        if let document = try? parse(Source(body), limits: .trusted) {
            for case .operation(let found) in document.definitions where operation == nil {
                operation = found
            }
        }
        name = operation?.name?.value
        kind = operation?.kind
    }
}
