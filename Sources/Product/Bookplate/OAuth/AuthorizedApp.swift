import GraphQL
import GraphQLPostgres
import Postgres
import Requests

/// An app of another developer to which the reader has given access.
enum AuthorizedApp {
    private static let id = Column("g.id", .uuid)

    static let type = RowType(
        name: "AuthorizedApp", table: "oauth_grants g JOIN oauth_clients c ON c.id = g.client_id",
        scope: "g.user_id = $1", id: id,
        fields: [
            "id": .column(id),
            "name": .column(Column("c.name", .text)),
            "isSelfRegistered": .column(Column("c.is_self_registered", .boolean)),
            "scopes": .column(Column("g.scopes", .texts)),
            "createdAt": .column(Column("g.created_at", .timestamp)),
            "expiresAt": .column(Column("g.expires_at", .timestamp)),
            "lastUsedAt": .column(Column("g.last_used_at", .timestamp)),
        ])

    static let ofUser = RowRelation(
        .many, type, key: User.id, matching: "g.user_id",
        from: """
            oauth_grants g
            JOIN oauth_clients c ON c.id = g.client_id
            WHERE g.user_id = $1 AND g.user_id = $2 AND g.expires_at > now()
            ORDER BY g.created_at DESC, g.id
            """)

    /// Succeeds even if there is no such app, so that clients can retry the mutation.
    static let revoke = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchApp)
        try await request.write { pipeline, viewer in
            pipeline.append(delete, .of(viewer.userID, id))
        }
        return [PlainObject(leaves: ["id": .string(id.description)])]
    }

    private static let delete = Statement("DELETE FROM oauth_grants WHERE user_id = $1 AND id = $2")

    /// Deletes the requests that the caller has decided and that have not led to tokens. Must come before `deleteAll`: it
    /// waits for an exchange in progress, whose grant `deleteAll` then sees.
    static let deleteRequests = Statement(
        "DELETE FROM oauth_requests WHERE user_id = app_user_id() AND grant_id IS NULL")

    /// Ends the access of all apps to the account of the user `$1`.
    static let deleteAll = Statement("DELETE FROM oauth_grants WHERE user_id = $1")
}
