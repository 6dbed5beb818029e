import Basics
import BookSources
import GraphQL
import GraphQLPostgres
import GraphQLServing
import Requests

/// The schema `schema.graphql`, with a resolver for each of its fields.
package struct BookplateSchema: Sendable {
    package let schema: Schema
    package let resolvers: any ResolverSource

    /// The text of the `schema.graphql` with which this program was built.
    package static var text: String {
        String(decoding: PackageResources.schema_graphql, as: UTF8.self)
    }

    /// - Parameters:
    ///   - sdl: The text of `schema.graphql`.
    ///   - hasIncrementalDelivery: Whether operations may use `@defer` and `@stream`.
    /// - Throws: All errors of the schema, or all fields without a resolver and resolvers without a field.
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
        "PartialDate": PartialDate.scalarInput,
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
    /// The types that implement `Node`.
    private static let nodes = [
        Book.type, FeedCard.type, Review.type, Shelf.type, User.type, Import.type, Read.type,
        ProgressEntry.type, Work.type, Series.type, Person.type, Note.type, ReadingGoal.type,
    ]
    /// The other types whose objects are rows.
    private static let rows =
        [
            Import.failureType, CoverImage.typeOfBook, DeletedBook.type, Swipe.type,
            StorageUse.type, FeedReason.type, SeriesEntry.type, SeriesProgress.type,
            YearInReview.type, PersonalAccessToken.type, EReaderDocument.type,
            AuthorizedApp.type, SharedLink.type, BookCopy.type, Scan.type,
        ]
        + LibraryStats.types

    private var table: [String: [String: FieldResolver]] = [:]
    private let fieldScopes: FieldScopes

    init(_ fieldScopes: FieldScopes) {
        self.fieldScopes = fieldScopes
        for type in Self.nodes + Self.rows {
            table[type.name] = type.fields.mapValues(\.resolver)
        }
        addConnections()
        addRoots()
        addAccounts()
        addBooks()
        addReads()
        addNotes()
        addCopies()
        addScans()
        addImportsAndExports()
        addCovers()
        addChanges()
        addFeed()
        addSharing()
    }

    /// Adds fields to a type, which may have other fields already.
    private mutating func add(_ type: String, _ fields: [String: FieldResolver]) {
        table[type, default: [:]].merge(fields) { $1 }
    }

    private mutating func addConnections() {
        for (connection, edge) in [
            ("BookConnection", "BookEdge"), ("ReviewConnection", "ReviewEdge"),
            ("FeedCardConnection", "FeedCardEdge"), ("DeletedBookConnection", "DeletedBookEdge"),
            ("SwipeConnection", "SwipeEdge"), ("ReadConnection", "ReadEdge"),
            ("ProgressEntryConnection", "ProgressEntryEdge"),
            ("SeriesProgressConnection", "SeriesProgressEdge"), ("NoteConnection", "NoteEdge"),
            ("EreaderDocumentConnection", "EreaderDocumentEdge"),
            ("BookCopyConnection", "BookCopyEdge"), ("ScanConnection", "ScanEdge"),
        ] {
            add(connection, ConnectionField.connectionResolvers)
            add(edge, ConnectionField.edgeResolvers)
        }
        table["FeedCardConnection"]?["totalCount"] = nil
        add("SearchConnection", ConnectionField.connectionResolvers)
        table["SearchConnection"]?["totalCount"] = nil
        add("SearchConnection", ["droppedWords": .property])
        add("PageInfo", ConnectionField.pageInfoResolvers)
    }

    /// Adds all fields of `Query` and `Subscription`. The functions below add those of `Mutation`, with the types of their
    /// results.
    private mutating func addRoots() {
        add(
            "Query",
            [
                "node": .load(NodeLookup(types: Self.nodes, isList: false)),
                "nodes": .load(NodeLookup(types: Self.nodes, isList: true)),
                "me": .load(User.me),
                "settings": .load(AppSettings.find),
                "shared": .load(SharedItem.shared),
                "authorizationRequest": .load(AuthorizationRequest.find),
                "shelf": .load(RowLookup.byID(Shelf.type)),
                "book": .load(RowLookup.byID(Book.type)),
                "feed": .load(Feed()),
                "feedCard": .load(RowLookup.byID(FeedCard.type)),
                "author": .load(NodeLookup(types: [Person.type], isList: false)),
                "genres": .load(GenreList()),
                "changes": .load(Changes()),
                "lookupISBN": .load(ISBNLookup()),
                "lookupISBNs": .load(ISBNListLookup.find),
                "search": .load(CatalogSearch()),
            ])
        add("LookupISBNResult", ISBNListLookup.resultFields)
        add(
            "Subscription",
            [
                "coverChanged": .load(CoverChanged()),
                "importProgress": .load(ImportProgress()),
                "changes": .load(ChangesSubscription()),
            ])
    }

    private mutating func addAccounts() {
        add("AppSettings", AppSettings.fields)
        add("IdentityProvider", AppSettings.providerFields)
        add("Session", Sessions.fields)
        add("Identity", UserIdentities.fields)
        add("UserSession", UserSessions.fields)
        add("SignOutPayload", ["endedSessions": .property])
        add(
            "DeletedAccount",
            [
                "id": .property, "books": .property, "reviews": .property, "covers": .property,
                "appleTokenRevoked": .property,
            ])
        add("CreateAccessTokenPayload", PersonalAccessToken.createPayloadFields)
        add("RevokeAccessTokenPayload", ["id": .property])
        add("AuthorizationRequest", AuthorizationRequest.fields)
        add("RevokeAuthorizedAppPayload", ["id": .property])
        add(
            "Mutation",
            [
                "signIn": .load(Sessions.signIn),
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
                "updateProfile": .load(User.update),
                "deleteAccount": .load(User.deleteAccount),
            ])
    }

    /// Adds books, shelves, and reviews.
    private mutating func addBooks() {
        let bookAndError: [String: FieldResolver] = [
            "book": .load(RowsOfPlainObject(.one, Book.type)),
            "error": .load(PlainObjectsField(.one)),
        ]
        add("CreateBookResult", bookAndError)
        add("UpdateBookResult", bookAndError)
        add("MoveBookPayload", Book.movePayloadFields)
        add("MoveBookResult", Book.movePayloadFields)
        add("MoveBookResult", ["error": .load(PlainObjectsField(.one))])
        add("DeleteBookPayload", Book.deletePayloadFields)
        add("DeleteBookResult", Book.deletePayloadFields)
        add("DeleteBookResult", ["error": .load(PlainObjectsField(.one))])
        add(
            "InputError",
            [
                "code": .property, "reason": .property, "message": .property, "min": .property,
                "max": .property, "field": .property, "conflictingId": .property,
            ])
        add("DeleteShelfPayload", Shelf.deletePayloadFields)
        add("DeleteReviewPayload", Review.deletePayloadFields)
        add(
            "Mutation",
            [
                "createShelf": .load(Shelf.create),
                "updateShelf": .load(Shelf.update),
                "deleteShelf": .load(Shelf.delete),
                "createBook": .load(Book.create),
                "createBooks": .load(Book.createMany),
                "updateBook": .load(Book.update),
                "moveBook": .load(Book.move),
                "placeBook": .load(Book.place),
                "deleteBook": .load(Book.delete),
                "updateBooks": .load(Book.updateMany),
                "moveBooks": .load(Book.moveMany),
                "deleteBooks": .load(Book.deleteMany),
                "restoreBook": .load(Book.restore),
                "reviewBook": .load(Review.write),
                "deleteReview": .load(Review.delete),
            ])
    }

    /// Adds reads with their progress, statistics, reading goals, and e-readers.
    private mutating func addReads() {
        add("DeleteReadPayload", Read.deletePayloadFields)
        add("LogProgressResult", ProgressEntry.logResultFields)
        add("DeleteProgressPayload", ProgressEntry.deletePayloadFields)
        add("DeleteReadingGoalPayload", ["id": .property])
        add("AuthorCount", AuthorOfCount.countFields)
        add("GenreCount", ["genre": .property, "readCount": .property])
        add("MoodCount", ["mood": .property, "readCount": .property])
        add(
            "FormatCount",
            [
                "format": .property, "readCount": .property, "pages": .property,
                "hours": .property,
            ])
        add("RatingCount", ["stars": .property, "bookCount": .property])
        add(
            "Mutation",
            [
                "startRead": .load(Read.start),
                "updateRead": .load(Read.update),
                "finishRead": .load(Read.finish),
                "deleteRead": .load(Read.delete),
                "logProgress": .load(ProgressEntry.log),
                "updateProgress": .load(ProgressEntry.update),
                "deleteProgress": .load(ProgressEntry.delete),
                "setReadingGoal": .load(ReadingGoal.set),
                "deleteReadingGoal": .load(ReadingGoal.delete),
                "linkEreaderDocument": .load(EReaderDocument.link),
                "unlinkEreaderDocument": .load(EReaderDocument.unlink),
            ])
    }

    private mutating func addNotes() {
        add("CreateNoteResult", Note.createResultFields)
        add("DeleteNotePayload", Note.deletePayloadFields)
        add(
            "Mutation",
            [
                "createNote": .load(Note.create),
                "createNotes": .load(Note.createMany),
                "updateNote": .load(Note.update),
                "deleteNote": .load(Note.delete),
            ])
    }

    private mutating func addCopies() {
        add("Loan", BookCopy.loanFields)
        add("DeleteCopyPayload", BookCopy.deletePayloadFields)
        add(
            "Mutation",
            [
                "createCopy": .load(BookCopy.create),
                "updateCopy": .load(BookCopy.update),
                "deleteCopy": .load(BookCopy.delete),
                "lendCopy": .load(BookCopy.lend),
                "returnCopy": .load(BookCopy.takeBack),
            ])
    }

    private mutating func addScans() {
        add("RecordScanResult", Scan.recordResultFields)
        add("DeleteScanPayload", ["id": .property])
        add("ClearScansPayload", ["deleted": .property])
        add(
            "Mutation",
            [
                "recordScans": .load(Scan.record),
                "deleteScan": .load(Scan.delete),
                "clearScans": .load(Scan.clear),
            ])
    }

    private mutating func addImportsAndExports() {
        add(
            "ExportLibraryPayload",
            [
                "url": .property, "expiresAt": .property, "parts": .load(PlainObjectsField(.many)),
            ])
        add("ExportPart", ["url": .property, "bookCount": .property])
        add(
            "Mutation",
            [
                "importLibrary": .load(Import.importLibrary),
                "exportLibrary": .load(ExportLink.exportLibrary),
            ])
    }

    private mutating func addCovers() {
        add("CoverEvent", CoverChanged.eventFields)
        add("FetchMissingCoversPayload", ["queued": .property])
        add(
            "Mutation",
            [
                "setCover": .load(Cover.set),
                "removeCover": .load(Cover.remove),
                "fetchMissingCovers": .load(Cover.fetchMissing),
            ])
    }

    /// Adds the change log of the library.
    private mutating func addChanges() {
        add("ChangePage", Changes.pageFields)
        add("Change", Changes.changeFields(nodes: Self.nodes))
    }

    /// Adds the feed with its swipes, and the parts of its cards.
    private mutating func addFeed() {
        add("Author", Author.fields)
        add("Genre", ["id": .property, "name": .property, "bookCount": .property])
        add("PurchaseLink", Bookstore.linkFields)
        add("Bookstore", Bookstore.fields)
        add("UndoSwipePayload", Swipe.undoPayloadFields)
        add("UnfollowAuthorPayload", ["id": .property])
        add(
            "RecordSwipesPayload",
            [
                "recorded": .property, "saved": .load(RowsOfPlainObject(.many, Book.type)),
                "unknownCardIds": .property,
            ])
        add(
            "Mutation",
            [
                "recordSwipes": .load(Swipe.record),
                "undoSwipe": .load(Swipe.undo),
                "followAuthor": .load(FollowedAuthors.follow),
                "unfollowAuthor": .load(FollowedAuthors.unfollow),
            ])
    }

    /// Adds links, and what they share.
    private mutating func addSharing() {
        add("Shared", SharedItem.fields)
        add("SharedReview", SharedItem.reviewFields)
        add("SharedNote", SharedItem.noteFields)
        add("SharedYear", SharedItem.yearFields)
        add("SharedBook", SharedItem.bookFields)
        add("SharedCover", SharedItem.coverFields)
        add("RevokeSharedLinkPayload", ["id": .property])
        add(
            "Mutation",
            [
                "createSharedLink": .load(SharedLink.create),
                "revokeSharedLink": .load(SharedLink.revoke),
            ])
    }

    func resolver(for field: FieldDefinition, of type: TypeDefinition) -> FieldResolver? {
        table[type.name]?[field.name]
    }

    func scopes(of field: FieldDefinition, of type: TypeDefinition) -> ScopeSet {
        fieldScopes.scopes(of: field, of: type)
    }

    /// Returns a message for each field without a suitable resolver, and for each resolver without a field.
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
        // With the default number for each list, a page of a hundred cards with all their lists would be refused.
        limits.operation.objectCounts = [
            "Book.authors": 2, "FeedCard.authors": 2, "DeletedBook.authors": 2,
            "FeedCard.genres": 3,
            "User.preferredGenres": 5, "Book.purchaseLinks": 2, "FeedCard.purchaseLinks": 2,
            "Query.genres": 45, "Work.authors": 2, "Work.genres": 3, "Book.series": 1,
            "FeedCard.series": 1, "Work.series": 1, "Book.copies": 2, "BookCopy.pastLoans": 5,
            "LibraryStats.readByMonth": 12, "LibraryStats.days": 100,
            "YearInReview.byMonth": 12, "LibraryStats.readByFormat": 3, "YearInReview.byFormat": 3,
            "LibraryStats.ratings": 20, "YearInReview.ratings": 20, "User.readingGoals": 10,
            // Statistics read all reads of a library or of a year.
            "User.stats": 20, "User.yearInReview": 20, "Shared.books": SharedItem.booksMax,
        ]
        // On each event loop.
        limits.cachedBytesMax = 16 << 20
        return limits
    }()
}
