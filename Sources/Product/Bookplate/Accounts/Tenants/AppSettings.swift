import GraphQLPostgres

/// `Query.settings`: the settings of the caller's tenant that its apps need.
enum AppSettings {
    private static let userID = Column("u.id", .uuid)

    static let type = RowType(
        name: "AppSettings", table: "users u JOIN tenants t ON t.id = u.tenant_id",
        scope: "u.id = $1", id: userID,
        fields: [
            "halfStars": .column(Column("t.half_stars", .boolean)),
            "guestBooksMax": .column(Column("t.guest_books_max", .integer)),
        ])

    static let ofCaller = RowLookup.caller(type)
}
