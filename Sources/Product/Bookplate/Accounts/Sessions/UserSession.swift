import GraphQL
import GraphQLPostgres
import Postgres
import Requests

/// The field `User.sessions`: where the caller is signed in. It needs no column of the user, because users see only
/// themselves.
struct UserSessions: RowLoader {
    /// The maximum number of sessions in the list.
    private static let sessionsMax = 100

    static let fields: [String: FieldResolver] = [
        "id": .property, "deviceName": .property, "createdAt": .property,
        "lastUsedAt": .property, "expiresAt": .property, "isCurrent": .property,
    ]

    var parentColumns: [Column] { [] }

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(selection: field.selections[0])
    }

    /// A refresh is the only use that is recorded, so `lastUsedAt` costs no write for each request.
    ///
    /// Relies on this plan: the user's sessions by the prefix of the primary key.
    private static let select = TypedStatement<UserSession>(
        """
        SELECT id, device_name, created_at, rotated_at, expires_at
        FROM sessions
        WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > now()
        ORDER BY rotated_at DESC, id
        LIMIT \(sessionsMax)
        """)

    private struct Prepared: RequestLoad {
        let selection: PlannedSelection

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            let viewer = try request.caller()
            let pending = request.query(UserSessions.select.statement, .of(viewer.userID))
            return .afterFlush { parents in
                request.children(of: parents) { () throws(BookplateError) in
                    let sessions = try pending.rows().decode(UserSession.self)
                        .map { $0.object(of: viewer) }
                    // Each parent is the caller.
                    let list = Slot.list(start: Int32(parents.count), count: Int32(sessions.count))
                    let items = sessions.indices.map { Slot.object(group: 0, index: Int32($0)) }
                    return Children(
                        slots: Array(repeating: list, count: parents.count) + items,
                        groups: [.init(PlainBatch(sessions, selection))])
                }
            }
        }
    }
}

/// A session as its user sees it.
private struct UserSession: RowDecodable {
    let id: UUID
    let deviceName: String?
    let createdAt: Int64
    let lastUsedAt: Int64
    let expiresAt: Int64

    init?(_ row: inout RowReader) {
        guard let id = row.uuid() else { return nil }
        self.id = id
        deviceName = row.text()
        guard let createdAt = row.timestamptz(), let lastUsedAt = row.timestamptz(),
            let expiresAt = row.timestamptz()
        else { return nil }
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
        self.expiresAt = expiresAt
    }

    func object(of viewer: Viewer) -> PlainObject {
        func text(_ microseconds: Int64) -> Value {
            .string(Instant(microseconds: microseconds).text)
        }
        return PlainObject(leaves: [
            "id": .string(id.description),
            "deviceName": deviceName.map { .string($0) } ?? .null,
            "createdAt": text(createdAt), "lastUsedAt": text(lastUsedAt),
            "expiresAt": text(expiresAt), "isCurrent": .boolean(id == viewer.sessionID),
        ])
    }
}

/// The name that an app gives a device when it signs in.
enum DeviceName {
    static let charactersMax = 100

    /// Returns the argument `deviceName`, on one line and without marks that change the direction of text; nil if it is
    /// absent or empty.
    static func read(_ arguments: ArgumentValues) throws(BookplateError) -> String? {
        var name = String.UnicodeScalarView()
        for scalar in arguments["deviceName"]?.string?.unicodeScalars ?? .init() {
            name.append(isPlain(scalar) ? scalar : " ")
        }
        return try TextInput.optional(
            String(name), field: "deviceName", charactersMax: charactersMax)
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: false
        default: !scalar.properties.isBidiControl
        }
    }
}
