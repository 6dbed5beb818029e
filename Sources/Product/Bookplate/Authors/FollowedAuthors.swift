import GraphQL
import GraphQLPostgres
import Postgres
import Requests

/// The persons whose new books a reader wants to see in the feed.
enum FollowedAuthors {
    /// The maximum number of followed persons of a reader. `import_followed_authors` has the same number.
    static let ofReaderMax = 200
    static let nameCharactersMax = 500

    /// The followed persons, the latest first.
    static let ofUser = RowRelation(
        .many, Person.type, key: User.id, matching: "p.user_id",
        from: """
            (
                SELECT f.user_id, f.person_id AS id, f.name, f.followed_at
                FROM followed_authors f
                WHERE f.user_id = $1 AND f.user_id = $2
            ) p
            ORDER BY p.followed_at DESC, p.id
            """)

    static let follow = RowMutation(Person.type) {
        arguments, request, person throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchAuthor)
        let (results, outcomes) = try await request.write { pipeline, viewer in
            var parameters = Parameters.of(viewer.userID, id)
            parameters.append(int32: Int32(ofReaderMax))
            let outcomes = pipeline.append(insert, parameters)
            pipeline.replaceDeckSoon(of: viewer.userID)
            person.append([id], to: &pipeline, for: viewer)
            return outcomes
        }
        if results[outcomes].first == true {
            throw .badUserInput(field: "id", .init(.limitReached, max: ofReaderMax))
        }
        return try person.only(results.last, orElse: .noSuchAuthor)
    }

    /// Succeeds even if the reader does not follow the person, so that clients can retry the mutation.
    static let unfollow = PlainMutation(.one) { arguments, request throws(BookplateError) in
        let id = try arguments.id("id", else: .noSuchAuthor)
        try await request.write { pipeline, viewer in
            pipeline.append(delete, .of(viewer.userID, id))
            pipeline.replaceDeckSoon(of: viewer.userID)
        }
        return [PlainObject(leaves: ["id": .string(id.description)])]
    }

    /// Adds the person `$2` to those of the reader `$1`, unless there are `$3`. Adds nothing if the catalog does not have the person.
    /// Returns whether there are too many. No other transaction of the reader runs at the same time (`begin_request`).
    private static let insert = TypedStatement<Bool>(
        """
        WITH followed AS MATERIALIZED (
            SELECT count(*) AS count, coalesce(bool_or(f.person_id = $2), false) AS is_known
            FROM followed_authors f
            WHERE f.user_id = $1
        ),
        inserted AS (
            INSERT INTO followed_authors (user_id, person_id, name)
            SELECT $1, $2, n.name
            FROM followed f
            CROSS JOIN (SELECT person_name($2) AS name) n
            WHERE NOT f.is_known AND f.count < $3 AND n.name IS NOT NULL
        )
        SELECT NOT f.is_known AND f.count >= $3
        FROM followed f
        """)

    private static let delete = Statement(
        "DELETE FROM followed_authors WHERE user_id = $1 AND person_id = $2")
}
