import GraphQL
import GraphQLPostgres
import Postgres

/// The connection `User.swipes`.
extension Swipe {
    private static let cardID = Column("s.edition_id", .uuid)
    /// A time in the future counts as the time at which the server recorded it.
    private static let time = Column("least(s.swiped_at, s.recorded_at)", .timestamp)
    private static let savedBookID = Column("s.saved_book_id", .uuid)

    static let type: RowType = RowType(
        name: "Swipe", table: "swipes s", scope: "s.user_id = $1", id: cardID,
        fields: [
            "card": .relation(
                RowRelation(
                    .one, FeedCard.type, key: cardID, matching: "e.id",
                    from: "editions e WHERE e.id = ANY($2)")),
            "action": .column(Column("s.action", .text)),
            "swipedAt": .column(time),
            "undoneAt": .column(Column("s.undone_at", .timestamp)),
            "savedBook": .relation(
                RowRelation(
                    .one, Book.type, key: savedBookID, matching: "b.id",
                    from: "books b WHERE b.user_id = $1 AND b.id = ANY($2)")),
        ])

    /// Relies on this plan: a page is read from `swipes_history`, starting after the cursor, whatever the number of swipes. With
    /// `actions`, the swipes with other actions are read and skipped.
    static let ofUser = RowConnection(
        type, key: User.id,
        orders: [
            RowOrder(
                name: "swiped",
                columns: [.init(time), .init(cardID), .init(Column("s.swiped_at", .timestamp))],
                isDescending: true)
        ],
        source: { arguments, _ in
            let actions = arguments["actions"]?.list?.compactMap(\.string) ?? []
            let from = "\(type.table) WHERE \(type.scope)"
            if actions.isEmpty { return .init(from: from) }
            return .init(from: "\(from) AND s.action::text = ANY($5)") {
                parameters in
                parameters.append(texts: actions)
            }
        })
}
