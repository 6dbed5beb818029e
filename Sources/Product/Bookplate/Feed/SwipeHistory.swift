import GraphQL
import GraphQLPostgres
import Postgres

/// The connection `User.swipes`.
extension Swipe {
    private static let cardID = Column("s.edition_id", .uuid)
    /// A time in the future counts as the time at which the server recorded it.
    private static let time = Column("least(s.swiped_at, s.recorded_at)", .timestamp)
    private static let savedBookID = Column("s.saved_book_id", .uuid)
    private static let store = Column("s.store", .text)
    /// The values of the schema's enum `SwipeAction`.
    static let actions = ["LIKE", "SKIP", "DISLIKE", "BUY"]

    /// Computed from the primary key, which never changes, so that a list of swipes can be cached by id without a column for
    /// it. The reader is a part of it, because two readers may swipe a card at the same time.
    private static let id = Column(
        """
        md5(concat_ws(' ', s.user_id, s.edition_id, (extract(epoch FROM s.swiped_at) * 1000000)::int8))::uuid
        """, .uuid)

    static let type: RowType = RowType(
        name: "Swipe", table: "swipes s", scope: "s.user_id = $1", id: cardID,
        fields: [
            "id": .column(id),
            "card": .relation(
                RowRelation(
                    .one, FeedCard.type, key: cardID, matching: "e.id",
                    from: "editions e WHERE e.id = $2")),
            "action": .column(Column("s.action", .text)),
            "scope": .column(Column("s.scope", .text)),
            "bookstore": .relation(BookstoreOfRow(id: store)),
            "swipedAt": .column(time),
            "undoneAt": .column(Column("s.undone_at", .timestamp)),
            "savedBook": .relation(
                RowRelation(
                    .one, Book.type, key: savedBookID, matching: "b.id",
                    from: "books b WHERE b.user_id = $1 AND b.id = $2")),
        ])

    /// Relies on this plan: for each action, a page is read from its index (`swipes_history_like` and so on), starting after the
    /// cursor, whatever the number of swipes. `isInEffect` looks up the later swipes of each card by their key.
    static let ofUser = RowConnection(
        type, key: User.id,
        orders: [
            RowOrder(
                name: "swiped",
                columns: [.init(time), .init(cardID), .init(Column("s.swiped_at", .timestamp))],
                isDescending: true)
        ],
        source: { arguments, _ in
            let given = arguments["actions"]?.list?.compactMap(\.string) ?? []
            // In a fixed order, so that there are few statements. The schema's enum restricts the names.
            let listed = actions.filter { given.isEmpty || given.contains($0) }
            let effect =
                arguments["inEffect"]?.boolean == true ? " AND \(SwipeScope.isInEffect)" : ""
            return .init(
                fromEach: listed.map {
                    "\(type.table) WHERE \(type.scope) AND s.action = '\($0)'\(effect)"
                })
        })
}
