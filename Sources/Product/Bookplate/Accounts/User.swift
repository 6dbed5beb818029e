import GraphQL
import GraphQLPostgres

/// The owner of a library.
package enum User {
    static let id = Column("u.id", .uuid)

    static let type: RowType = RowType(
        name: "User", table: "users u", scope: "u.id = $1", id: id,
        fields: [
            "id": .column(id),
            "displayName": .column(Column("u.display_name", .text)),
            "email": .column(Column("CASE WHEN NOT u.email_disabled THEN u.email END", .text)),
            "preferredGenres": .relation(NamedGenres(Column("u.preferred_genres", .texts))),
            "languages": .column(Column("u.languages", .texts)),
            "timeZone": .column(Column("u.time_zone", .text)),
            "isGuest": .column(Column("u.is_guest", .boolean)),
            "createdAt": .column(Column("u.created_at", .timestamp)),
            "shelves": .relation(Shelf.ofUser),
            "books": .relation(Book.ofUser),
            "reviews": .relation(Review.ofUser),
            "reads": .relation(Read.ofUser),
            "notes": .relation(Note.ofUser),
            "lentCopies": .relation(BookCopy.lent),
            "scans": .relation(Scan.ofUser),
            "upNext": .relation(Shelf.upNext),
            "deletedBooks": .relation(DeletedBook.ofUser),
            "swipes": .relation(Swipe.ofUser),
            "series": .relation(SeriesProgress.ofUser),
            "followedAuthors": .relation(FollowedAuthors.ofUser),
            "stats": .relation(LibraryStats.ofUser),
            "yearInReview": .relation(YearInReview.ofUser),
            "readingGoals": .relation(ReadingGoal.ofUser),
            "readingGoal": .relation(ReadingGoal.ofYear),
            "storage": .relation(StorageUse.ofUser),
            "identities": .relation(UserIdentities()),
            "sessions": .relation(UserSessions()),
            "accessTokens": .relation(PersonalAccessToken.ofUser),
            "authorizedApps": .relation(AuthorizedApp.ofUser),
            "ereaderDocuments": .relation(EReaderDocument.ofUser),
            "sharedLinks": .relation(SharedLink.ofUser),
        ])

    /// The fields `Query.me` and `Session.user`.
    static let me = RowLookup.caller(type)
}
