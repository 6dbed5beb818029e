import Basics
import GraphQL
import GraphQLPostgres
import Identity
import Postgres
import Requests

/// A personal access token, as its owner sees it.
package enum PersonalAccessToken {
    static let nameCharactersMax = 100
    /// The maximum number of tokens of a reader.
    static let ofUserMax = 100
    /// The maximum number of documents to which a token can be bound.
    static let documentsMax = 100
    private static let seedBytes = 16
    private static let id = Column("t.id", .uuid)

    static let type = RowType(
        name: "AccessToken", table: "access_tokens t", scope: "t.user_id = $1", id: id,
        fields: [
            "id": .column(id),
            "name": .column(Column("t.name", .text)),
            "scopes": .column(Column("t.scopes", .texts)),
            "documents": .column(Column("t.documents", .texts)),
            "lastCharacters": .column(Column("t.last_characters", .text)),
            "createdAt": .column(Column("t.created_at", .timestamp)),
            "expiresAt": .column(Column("t.expires_at", .timestamp)),
            "lastUsedAt": .column(Column("t.last_used_at", .timestamp)),
        ])

    static let ofUser = RowRelation(
        .many, type, key: User.id, matching: "t.user_id",
        from: """
            access_tokens t
            WHERE t.user_id = $1 AND t.user_id = $2 AND t.grant_id IS NULL
            ORDER BY t.created_at DESC, t.id
            """)

    static let create = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let creation = try Creation(InputObject(arguments["input"]))
        try request.charges.charge(RateLimits.unitsPerCredential)
        let keys = request.services.accounts.sessionKeys
        let seed = randomBytes(seedBytes)
        let outcomes = try await request.write { pipeline, viewer in
            let token = PersonalToken.derive(
                creation.id, of: viewer.userID, seed: seed, keys: keys)
            return pipeline.append(
                Outcome.create, creation.parameters(token, seed, of: viewer.userID))
        }
        guard let outcome = outcomes.first else { throw .internalError }
        if let error = outcome.error { throw error }
        let token = PersonalToken.derive(
            creation.id, of: try request.caller().userID, seed: outcome.seed, keys: keys)
        // The sealing key may have been replaced since the request that created the token.
        guard token.hash == outcome.hash else { throw Outcome.isTaken }
        return [
            PlainObject(
                leaves: ["secret": .string(token.text)], ids: ["token": [creation.id]])
        ]
    }

    static let createPayloadFields: [String: FieldResolver] = [
        "token": .load(RowsOfPlainObject(.one, type)), "secret": .property,
    ]

    /// Succeeds even if there is no such token, so that clients can retry the mutation.
    static let revoke = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchToken)
        try request.charges.charge(RateLimits.unitsPerCredential)
        try await request.write { pipeline, viewer in
            pipeline.append(delete, .of(viewer.userID, id))
        }
        return [PlainObject(leaves: ["id": .string(id.description)])]
    }

    private static let delete = Statement(
        "DELETE FROM access_tokens WHERE user_id = $1 AND id = $2 AND grant_id IS NULL")

    /// Revokes all personal access tokens of the user `$1`.
    static let deleteAll = Statement(
        "DELETE FROM access_tokens WHERE user_id = $1 AND grant_id IS NULL")

    /// A token to create: the input type `CreateAccessTokenInput`.
    struct Creation {
        let id: UUID
        let name: String
        let scopes: [String]
        /// The ids or hashes of trusted documents; nil if the token is not bound to documents.
        let documents: [String]?
        /// In microseconds since the Unix epoch; nil for a token that does not expire.
        let expiresAt: Int64?

        init(_ input: InputObject) throws(BookplateError) {
            id = try input.newID()
            name = try TextInput.line(
                input.text("name") ?? "", field: "name", charactersMax: nameCharactersMax)
            var scopes: [String] = []
            for scope in input["scopes"]?.list?.compactMap(\.string) ?? []
            where !scopes.contains(scope) {
                scopes.append(scope)
            }
            guard !scopes.isEmpty else {
                throw .badUserInput(field: "scopes", .init(.empty))
            }
            self.scopes = scopes.sorted()
            documents = input["documents"]?.list?.compactMap(\.string)
            if let documents, documents.isEmpty || documents.count > documentsMax {
                throw .badUserInput(
                    field: "documents",
                    documents.isEmpty ? .init(.empty) : .init(.tooMany, max: documentsMax))
            }
            if let documents, documents.contains(where: { $0.utf8.contains(0) }) {
                throw Outcome.noDocument
            }
            expiresAt = input.text("expiresAt").flatMap { Instant($0) }?.microseconds
            if let expiresAt, expiresAt <= unixSecondsNow() * 1_000_000 {
                throw .badUserInput(
                    field: "expiresAt", .init(.inPast))
            }
        }

        init(name: String, scopes: [AccessScope]) {
            id = .version7()
            self.name = name
            self.scopes = scopes.map(\.rawValue).sorted()
            documents = nil
            expiresAt = nil
        }

        func parameters(_ token: PersonalToken, _ seed: [UInt8], of user: UUID) -> Parameters {
            var parameters = Parameters.of(user, id)
            parameters.append(text: name)
            parameters.append(texts: scopes)
            parameters.append(bytea: token.hash)
            parameters.append(bytea: token.kosyncHash)
            parameters.append(bytea: seed)
            parameters.append(text: token.lastCharacters)
            parameters.append(timestamptz: expiresAt)
            parameters.append(int32: Int32(ofUserMax))
            if let documents {
                parameters.append(texts: documents)
            } else {
                parameters.appendNull(.text.array)
            }
            return parameters
        }
    }

    /// The outcome of `create_access_token`.
    private struct Outcome: RowDecodable {
        let error: BookplateError?
        let hash: [UInt8]
        let seed: [UInt8]

        static let isTaken = BookplateError.conflict(
            .init(
                .idTaken,
                detail:
                    "A token with this ID was created before. Its secret is shown only once. Choose a new UUID."
            ),
            field: "id")

        static let noDocument = BookplateError.badUserInput(
            field: "documents",
            .init(.unknownDocument)
        )

        init?(_ row: inout RowReader) {
            error =
                switch row.text() {
                case "DONE", "REPEATED": nil
                case "TAKEN": Self.isTaken
                case "DOCUMENTS": Self.noDocument
                case "FULL":
                    .badUserInput(
                        field: "input",
                        .init(.limitReached, max: ofUserMax))
                default: .internalError
                }
            hash = row.bytes() ?? []
            seed = row.bytes() ?? []
        }

        static let create = TypedStatement<Self>(
            """
            SELECT outcome, stored_hash, stored_seed
            FROM create_access_token(
                $1, $2, $3, $4::text[]::access_scope[], $5, $6, $7, $8, $9, \(Sessions.graceSeconds), $10, $11
            )
            """)
    }

    /// Creates a token for a user, in the transaction of an operator.
    ///
    /// - Returns: The secret, or the reason why there is none.
    package static func issue(
        name: String, scopes: [AccessScope], for user: UUID, keys: SessionKeys,
        _ connection: AdminConnection
    ) throws(PostgresError) -> Result<String, BookplateError> {
        let creation = Creation(name: name, scopes: scopes)
        let seed = randomBytes(seedBytes)
        let token = PersonalToken.derive(creation.id, of: user, seed: seed, keys: keys)
        let outcomes: [Outcome] = try connection.query(
            Outcome.create.statement.text, creation.parameters(token, seed, of: user)
        ).decode()
        if let error = outcomes.first?.error { return .failure(error) }
        return .success(token.text)
    }
}
