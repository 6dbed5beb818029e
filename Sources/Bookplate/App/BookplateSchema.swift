import GraphQLServing
import GraphQL
import GraphQLPostgres

/// Binds `schema.graphql` to the product: each field to where its value comes from.
package struct BookplateSchema: Sendable {
    package let schema: Schema
    package let resolvers: any ResolverSource

    /// The text of `schema.graphql`, as this program was built with it.
    package static var text: String {
        String(decoding: PackageResources.schema_graphql, as: UTF8.self)
    }

    /// - Parameters:
    ///   - sdl: the text of `schema.graphql`.
    ///   - hasIncrementalDelivery: Whether operations may use `@defer` and `@stream`.
    /// - Throws: every error of the schema; every field without a resolver and resolver without a field.
    package init(sdl: String, hasIncrementalDelivery: Bool = false) throws(RequestErrors) {
        schema = try buildSchema(
            Source(sdl), scalars: Self.scalars, hasIncrementalDelivery: hasIncrementalDelivery)
        let table = ResolverTable(try FieldScopes(schema))
        let problems = table.problems(in: schema)
        guard problems.isEmpty else { throw RequestErrors(problems.map { GraphQLError($0) }) }
        resolvers = table
    }

    /// How inputs of the product's own scalars are checked.
    private static let scalars: [String: ScalarInput] = [
        "DateTime": { value throws(CoercionError) in
            guard let text = value.string, Instant(text) != nil else {
                throw CoercionError(
                    "DateTime cannot represent this value. Write an RFC 3339 date and time with "
                        + "an offset and at most microseconds, such as 2026-01-31T12:00:00Z.")
            }
            return value
        },
        "Date": PartialDate.scalarInput,
        "Upload": { value throws(CoercionError) in
            guard UploadReference.index(value) != nil else {
                throw CoercionError(
                    "Upload cannot represent this value. Send a file of a multipart/form-data request."
                )
            }
            return value
        },
    ]
}

/// The resolvers by type and field.
private struct ResolverTable: ResolverSource {
    private var table: [String: [String: FieldResolver]] = [:]
    private let fieldScopes: FieldScopes

    init(_ fieldScopes: FieldScopes) {
        self.fieldScopes = fieldScopes
        let nodes = [
            Book.type, FeedCard.type, Review.type, Shelf.type, User.type, Import.type, Read.type,
            ProgressEntry.type, Work.type, Series.type, Note.type, ReadingGoal.type,
        ]
        let rows =
            [
                Import.failureType, Cover.type, Image.typeOfBook, DeletedBook.type, Swipe.type,
                StorageUse.type, AppSettings.type, SeriesEntry.type, SeriesProgress.type,
                YearInReview.type, PersonalAccessToken.type, EReaderDocument.type,
                AuthorizedApp.type,
            ]
            + LibraryStats.types
        for type in nodes + rows {
            table[type.name] = type.fields.mapValues(\.resolver)
        }
        for (connection, edge) in [
            ("BookConnection", "BookEdge"), ("ReviewConnection", "ReviewEdge"),
            ("FeedCardConnection", "FeedCardEdge"), ("DeletedBookConnection", "DeletedBookEdge"),
            ("SwipeConnection", "SwipeEdge"), ("ReadConnection", "ReadEdge"),
            ("ProgressEntryConnection", "ProgressEntryEdge"),
            ("SeriesProgressConnection", "SeriesProgressEdge"), ("NoteConnection", "NoteEdge"),
            ("EreaderDocumentConnection", "EreaderDocumentEdge"),
        ] {
            table[connection] = ConnectionField.connectionResolvers
            table[edge] = ConnectionField.edgeResolvers
        }
        table["FeedCardConnection"]?["totalCount"] = nil
        table["PageInfo"] = ConnectionField.pageInfoResolvers
        table["Author"] = Author.fields
        table["Genre"] = ["id": .property, "name": .property, "bookCount": .property]
        table["PurchaseLink"] = Bookstore.linkFields
        table["Bookstore"] = Bookstore.fields
        table["Session"] = Sessions.fields
        table["Identity"] = UserIdentities.fields
        table["UserSession"] = UserSessions.fields
        table["DeletedAccount"] = [
            "id": .property, "books": .property, "reviews": .property, "covers": .property,
            "appleTokenRevoked": .property,
        ]
        table["CreateBookResult"] = [
            "book": .load(RowsOfPlainObject(.one, Book.type)),
            "error": .load(PlainObjectsField(.one)),
        ]
        table["UpdateBookResult"] = table["CreateBookResult"]
        table["MoveBookResult"] = Book.movePayloadFields.merging(
            ["error": .load(PlainObjectsField(.one))]) { $1 }
        table["DeleteBookResult"] = Book.deletePayloadFields.merging(
            ["error": .load(PlainObjectsField(.one))]) { $1 }
        table["InputError"] = [
            "code": .property, "message": .property, "field": .property,
            "conflictingId": .property, "id": .property,
        ]
        table["SignOutPayload"] = ["endedSessions": .property]
        table["CreateAccessTokenPayload"] = PersonalAccessToken.createPayloadFields
        table["RevokeAccessTokenPayload"] = ["id": .property]
        table["AuthorizationRequest"] = AuthorizationRequest.fields
        table["RevokeAuthorizedAppPayload"] = ["id": .property]
        table["DeleteShelfPayload"] = Shelf.deletePayloadFields
        table["MoveBookPayload"] = Book.movePayloadFields
        table["DeleteBookPayload"] = Book.deletePayloadFields
        table["DeleteReviewPayload"] = Review.deletePayloadFields
        table["DeleteReadPayload"] = Read.deletePayloadFields
        table["LogProgressResult"] = ProgressEntry.logResultFields
        table["DeleteProgressPayload"] = ProgressEntry.deletePayloadFields
        table["DeleteReadingGoalPayload"] = ["id": .property]
        table["AuthorCount"] = AuthorOfCount.countFields
        table["GenreCount"] = ["genre": .property, "readCount": .property]
        table["FormatCount"] = ["format": .property, "readCount": .property]
        table["RatingCount"] = ["stars": .property, "bookCount": .property]
        table["CreateNoteResult"] = Note.createResultFields
        table["DeleteNotePayload"] = Note.deletePayloadFields
        table["UndoSwipePayload"] = Swipe.undoPayloadFields
        table["FetchMissingCoversPayload"] = ["queued": .property]
        table["ExportLibraryPayload"] = [
            "url": .property, "expiresAt": .property, "parts": .load(PlainObjectsField(.many)),
        ]
        table["ExportPart"] = ["url": .property, "bookCount": .property]
        table["RecordSwipesPayload"] = [
            "recorded": .property, "saved": .load(RowsOfPlainObject(.many, Book.type)),
            "unknownCardIds": .property,
        ]
        table["ChangePage"] = Changes.pageFields
        table["Change"] = Changes.changeFields(nodes: nodes)
        table["Query"] = [
            "node": .load(NodeLookup(types: nodes, isList: false)),
            "nodes": .load(NodeLookup(types: nodes, isList: true)),
            "me": .load(User.me),
            "settings": .load(AppSettings.ofCaller),
            "authorizationRequest": .load(AuthorizationRequest.find),
            "shelf": .load(RowLookup.byID(Shelf.type)),
            "book": .load(RowLookup.byID(Book.type)),
            "feed": .load(Feed()),
            "feedCard": .load(RowLookup.byID(FeedCard.type)),
            "genres": .load(GenreList()),
            "changes": .load(Changes()),
            "lookupISBN": .load(ISBNLookup()),
            "search": .load(CatalogSearch()),
        ]
        table["CoverEvent"] = CoverChanged.eventFields
        table["Subscription"] = [
            "coverChanged": .load(CoverChanged()),
            "importProgress": .load(ImportProgress()),
            "changes": .load(ChangesSubscription()),
        ]
        table["Mutation"] = [
            "signIn": .load(Sessions.signIn),
            "signInWithApple": .load(Sessions.signInWithApple),
            "signInAsGuest": .load(Sessions.signInAsGuest),
            "linkIdentity": .load(User.linkIdentity),
            "unlinkIdentity": .load(User.unlinkIdentity),
            "refreshSession": .load(Sessions.refresh),
            "signOut": .load(Sessions.signOut),
            "createAccessToken": .load(PersonalAccessToken.create),
            "revokeAccessToken": .load(PersonalAccessToken.revoke),
            "approveAuthorization": .load(AuthorizationRequest.approve),
            "denyAuthorization": .load(AuthorizationRequest.deny),
            "revokeAuthorizedApp": .load(AuthorizedApp.revoke),
            "linkEreaderDocument": .load(EReaderDocument.link),
            "unlinkEreaderDocument": .load(EReaderDocument.unlink),
            "updateProfile": .load(User.update),
            "deleteAccount": .load(User.deleteAccount),
            "createShelf": .load(Shelf.create),
            "updateShelf": .load(Shelf.update),
            "deleteShelf": .load(Shelf.delete),
            "createBook": .load(Book.create),
            "createBooks": .load(Book.createMany),
            "updateBook": .load(Book.update),
            "moveBook": .load(Book.move),
            "deleteBook": .load(Book.delete),
            "updateBooks": .load(Book.updateMany),
            "moveBooks": .load(Book.moveMany),
            "deleteBooks": .load(Book.deleteMany),
            "restoreBook": .load(Book.restore),
            "reviewBook": .load(Review.write),
            "deleteReview": .load(Review.delete),
            "startRead": .load(Read.start),
            "updateRead": .load(Read.update),
            "finishRead": .load(Read.finish),
            "deleteRead": .load(Read.delete),
            "logProgress": .load(ProgressEntry.log),
            "updateProgress": .load(ProgressEntry.update),
            "deleteProgress": .load(ProgressEntry.delete),
            "setReadingGoal": .load(ReadingGoal.set),
            "deleteReadingGoal": .load(ReadingGoal.delete),
            "createNote": .load(Note.create),
            "createNotes": .load(Note.createMany),
            "updateNote": .load(Note.update),
            "deleteNote": .load(Note.delete),
            "recordSwipes": .load(Swipe.record),
            "undoSwipe": .load(Swipe.undo),
            "importLibrary": .load(Import.importLibrary),
            "exportLibrary": .load(ExportLink.exportLibrary),
            "setCover": .load(Cover.set),
            "removeCover": .load(Cover.remove),
            "fetchMissingCovers": .load(Cover.fetchMissing),
        ]
    }

    func resolver(for field: FieldDefinition, of type: TypeDefinition) -> FieldResolver? {
        table[type.name]?[field.name]
    }

    func scopes(of field: FieldDefinition, of type: TypeDefinition) -> ScopeSet {
        fieldScopes.scopes(of: field, of: type)
    }

    /// Fields without a suitable resolver, and resolvers without a field.
    func problems(in schema: Schema) -> [String] {
        var problems = schema.problems(with: self)
        for (type, fields) in table.sorted(by: { $0.key < $1.key }) {
            for field in fields.keys.sorted()
            where schema.type(named: type)?.field(named: field) == nil {
                problems.append("The schema has no field \(type).\(field).")
            }
        }
        return problems
    }
}

extension RequestLimits {
    /// The default limits for operations of the product's schema.
    package static let bookplate: RequestLimits = {
        var limits = RequestLimits()
        // Without these numbers, a page of a hundred cards with all their lists would be refused.
        limits.operation.objectCounts = [
            "Book.authors": 2, "FeedCard.authors": 2, "DeletedBook.authors": 2,
            "FeedCard.genres": 3,
            "User.preferredGenres": 5, "Book.purchaseLinks": 2, "FeedCard.purchaseLinks": 2,
            "Query.genres": 45, "Work.authors": 2, "Work.genres": 3, "Book.series": 1,
            "FeedCard.series": 1, "Work.series": 1, "LibraryStats.readByMonth": 12,
            "YearInReview.byMonth": 12, "LibraryStats.readByFormat": 3, "YearInReview.byFormat": 3,
            "LibraryStats.ratings": 10, "YearInReview.ratings": 10, "User.readingGoals": 10,
            // Statistics read all reads of a library or of a year.
            "User.stats": 20, "User.yearInReview": 20,
        ]
        return limits
    }()
}
