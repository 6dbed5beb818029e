import GraphQL
import Identity

/// The operations that an app was published with, as its tools write them down.
///
/// Two formats: Apollo's (`{"format": "apollo-persisted-query-manifest", "version": 1, "operations": [{id, name, type,
/// body}]}`) and Relay's (`{"id": "text"}`).
package struct DocumentManifest: Sendable {
    package struct Entry: Sendable, Equatable {
        package let id: String
        package let name: String?
        package let kind: OperationKind?
        package let body: String

        /// Of the body, in lower-case hexadecimal digits.
        package var sha256: String { lowercaseHex(Identity.sha256(body.utf8)) }
    }

    package let entries: [Entry]

    /// What is wrong, as a sentence for the operator.
    package struct Problem: Error, Equatable {
        package let message: String
    }

    static let idCharactersMax = 200

    package init(_ bytes: [UInt8]) throws(Problem) {
        let json: Value
        do throws(JSONError) {
            json = try parseJSON(bytes, limits: JSONLimits(bytesMax: bytes.count))
        } catch {
            throw Problem(message: "the manifest is no JSON: \(error.message)")
        }
        guard case .object(let members) = json else {
            throw Problem(message: "the manifest is no JSON object")
        }
        entries =
            if json["format"] != nil {
                try Self.apollo(json)
            } else {
                try members.map { member throws(Problem) in
                    guard let body = member.value.string else {
                        throw Problem(
                            message: "\(member.name) has no text: this is neither Apollo's format "
                                + "nor Relay's")
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
                throw Problem(message: "an operation of the manifest lacks its id or its body")
            }
            return try Entry(id: id, body: body)
        }
    }

    /// Validates each document as a server does before it runs it.
    ///
    /// - Returns: one line for each document that the server would refuse.
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
                message: "an id has 1 to \(DocumentManifest.idCharactersMax) characters: \(id)")
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
