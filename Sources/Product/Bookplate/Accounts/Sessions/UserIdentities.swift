import GraphQL
import GraphQLPostgres
import JobQueue
import Postgres
import Requests

/// The field `User.identities`: the identities with which the caller can sign in. It needs no column of the user, because users
/// see only themselves.
struct UserIdentities: RowLoader {
    /// The maximum number of identities of an account.
    static let identitiesMax: Int32 = 20

    static let fields: [String: FieldResolver] = [
        "id": .property, "provider": .property, "createdAt": .property,
    ]

    var parentColumns: [Column] { [] }

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(selection: field.selections[0])
    }

    /// Relies on this plan: the user's identities by the prefix of the primary key.
    private static let select = TypedStatement<UserIdentity>(
        """
        SELECT i.id, \(UserIdentity.provider), i.created_at
        FROM identities i
        WHERE i.user_id = $1
        ORDER BY i.created_at, i.id
        """)

    private struct Prepared: RequestLoad {
        let selection: PlannedSelection

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            let viewer = try request.caller()
            let pending = request.query(UserIdentities.select.statement, .of(viewer.userID))
            return .afterFlush { parents in
                request.children(of: parents) { () throws(BookplateError) in
                    let identities = try pending.rows().decode(UserIdentity.self).map(\.object)
                    // Each parent is the caller.
                    let list = Slot.list(
                        start: Int32(parents.count), count: Int32(identities.count))
                    let items = identities.indices.map { Slot.object(group: 0, index: Int32($0)) }
                    return Children(
                        slots: Array(repeating: list, count: parents.count) + items,
                        groups: [.init(PlainBatch(identities, selection))])
                }
            }
        }
    }
}

/// An identity as its user sees it.
struct UserIdentity: RowDecodable {
    let id: UUID
    let provider: String
    let createdAt: Int64

    /// The SQL expression of the provider of a row `i` of `identities`: `apple`, the name of another provider, or its issuer if the
    /// tenant has removed the provider.
    static let provider = #"""
        CASE
            WHEN strpos(i.subject, E'\x1F') = 0 THEN 'apple'
            ELSE coalesce(
                (
                    SELECT p.name
                    FROM identity_providers p
                    WHERE p.tenant_id = i.tenant_id AND p.issuer = split_part(i.subject, E'\x1F', 1)
                ),
                split_part(i.subject, E'\x1F', 1)
            )
        END
        """#

    init?(_ row: inout RowReader) {
        guard let id = row.uuid(), let provider = row.text(), let createdAt = row.timestamptz()
        else { return nil }
        self.id = id
        self.provider = provider
        self.createdAt = createdAt
    }

    var object: PlainObject {
        PlainObject(leaves: [
            "id": .string(id.description), "provider": .string(provider),
            "createdAt": .string(Instant(microseconds: createdAt).text),
        ])
    }
}

// MARK: - Linking

extension User {
    static let linkIdentity = RowMutation(type) { arguments, request, user throws(BookplateError) in
        let viewer = try request.caller()
        let input = try await IdentityInput(arguments["input"], request)
        guard input.identity.tenant.id == viewer.tenantID else { throw .unauthenticated }
        // The lock of the identity comes before that of the user, which begin_request takes.
        let (results, keys) = try await request.anonymous { pipeline in
            pipeline.append(lockIdentity, input.identity.parameters)
            var begin = Parameters.of(viewer.userID, viewer.tenantID, viewer.sessionID)
            begin.append(bool: false)
            pipeline.append(beginRequest, begin)
            var link = Parameters()
            link.append(bytea: input.identity.claims.tokenHash)
            link.append(int64: input.identity.claims.expiresAt)
            link.append(int32: UserIdentities.identitiesMax)
            let isUpgrade = pipeline.append(linkToCaller, link)
            return (
                isUpgrade: isUpgrade,
                user: user.append([viewer.userID], to: &pipeline, for: viewer)
            )
        }
        if results[keys.isUpgrade].first == true {
            request.services.accounts.guestMetrics.count("UPGRADED")
        }
        await input.storeAppleGrant(for: viewer, request)
        return try user.only(results[keys.user], orElse: .noSuchUser)
    }

    private static let lockIdentity = Statement(
        """
        SELECT
            set_config('app.tenant_id', $1::text, true),
            set_config('app.subject', $2, true),
            lock_identity()
        """)

    private static let beginRequest = Statement("SELECT begin_request($1, $2, $3, $4)")

    /// Returns whether a guest has become an account.
    private static let linkToCaller = TypedStatement<Bool>(
        "SELECT link_identity($1, to_timestamp($2), $3)")

    static let unlinkIdentity = RowMutation(type) {
        arguments, request, user throws(BookplateError) in
        let (results, unlinked) = try await request.write { pipeline, viewer in
            var parameters = Parameters()
            // An id that is not a UUID is that of no identity, so the parameter is null.
            parameters.append(uuid: arguments["id"]?.string.flatMap { UUID($0) })
            parameters.append(text: RevokeAppleGrant.kind)
            parameters.append(int32: Int32(clamping: RevokeAppleGrant.settings.attemptsMax))
            pipeline.append(unlink, parameters)
            pipeline.notify(JobWorker.channel, RevokeAppleGrant.kind)
            return user.append([viewer.userID], to: &pipeline, for: viewer)
        }
        return try user.only(results[unlinked], orElse: .noSuchUser)
    }

    private static let unlink = Statement("SELECT unlink_identity($1, $2, $3)")
}
