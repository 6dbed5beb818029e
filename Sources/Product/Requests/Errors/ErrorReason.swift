import GraphQL
import GraphQLServing

/// Why an input is refused, for programs: the values of the enum `ErrorReason` in the schema, `extensions.reason`, and
/// `InputError.reason`. `ErrorTexts` has a sentence for each of them in each language.
///
/// The schema has one more value, `invalidRequest`, for requests that only the developer of an app can correct.
package enum ErrorReason: String, CaseIterable, Sendable {
    // Any value
    case empty = "EMPTY"
    case required = "REQUIRED"
    case tooLong = "TOO_LONG"
    case tooMany = "TOO_MANY"
    case tooSmall = "TOO_SMALL"
    case outOfRange = "OUT_OF_RANGE"
    case duplicate = "DUPLICATE"
    case conflictingFields = "CONFLICTING_FIELDS"
    case invalidChoice = "INVALID_CHOICE"
    case invalidCharacter = "INVALID_CHARACTER"
    case invalidID = "INVALID_ID"
    case invalidCursor = "INVALID_CURSOR"
    case invalidDate = "INVALID_DATE"
    case inFuture = "IN_FUTURE"
    case inPast = "IN_PAST"
    case datesReversed = "DATES_REVERSED"
    case invalidLanguage = "INVALID_LANGUAGE"
    case unknownTimeZone = "UNKNOWN_TIME_ZONE"
    case unknownGenre = "UNKNOWN_GENRE"
    case limitReached = "LIMIT_REACHED"

    // Accounts
    case wrongConfirmation = "WRONG_CONFIRMATION"
    case invalidCredential = "INVALID_CREDENTIAL"
    case identityTaken = "IDENTITY_TAKEN"
    case secondAppleIdentity = "SECOND_APPLE_IDENTITY"
    case onlyIdentity = "ONLY_IDENTITY"
    case unknownDocument = "UNKNOWN_DOCUMENT"
    case scopeNotRequested = "SCOPE_NOT_REQUESTED"
    case alreadyDecided = "ALREADY_DECIDED"
    case signInUnavailable = "SIGN_IN_UNAVAILABLE"

    // ISBNs
    case isbnLength = "ISBN_LENGTH"
    case isbnCheckDigit = "ISBN_CHECK_DIGIT"
    case notAnISBN = "NOT_AN_ISBN"
    case shortBarcode = "SHORT_BARCODE"
    case productBarcode = "PRODUCT_BARCODE"
    case placeholderISBN = "PLACEHOLDER_ISBN"
    case unknownISBN = "UNKNOWN_ISBN"
    case sourcesUnavailable = "SOURCES_UNAVAILABLE"

    // The library
    case emptyBook = "EMPTY_BOOK"
    case emptyReview = "EMPTY_REVIEW"
    case emptyNote = "EMPTY_NOTE"
    case invalidStars = "INVALID_STARS"
    case openReadWithEnd = "OPEN_READ_WITH_END"
    case severalOpenReads = "SEVERAL_OPEN_READS"
    case readIsOpen = "READ_IS_OPEN"
    case statusContradictsReads = "STATUS_CONTRADICTS_READS"
    case beyondEnd = "BEYOND_END"
    case belowProgress = "BELOW_PROGRESS"
    case nameTaken = "NAME_TAKEN"
    case alreadyInLibrary = "ALREADY_IN_LIBRARY"
    case idTaken = "ID_TAKEN"
    case deleted = "DELETED"
    case guestBooks = "GUEST_BOOKS"
    case copyIsLent = "COPY_IS_LENT"

    // Files
    case invalidFile = "INVALID_FILE"
    case fileTooLarge = "FILE_TOO_LARGE"
    case notAFile = "NOT_A_FILE"
    case invalidImage = "INVALID_IMAGE"
    case invalidImageURL = "INVALID_IMAGE_URL"
    case noImageAtURL = "NO_IMAGE_AT_URL"
    case lateImage = "LATE_IMAGE"
    case coverStorageUsed = "COVER_STORAGE_USED"
    case serverStorageFull = "SERVER_STORAGE_FULL"

    // Objects that do not exist
    case noSuchApp = "NO_SUCH_APP"
    case noSuchAuthor = "NO_SUCH_AUTHOR"
    case noSuchAuthorization = "NO_SUCH_AUTHORIZATION"
    case noSuchBook = "NO_SUCH_BOOK"
    case noSuchCard = "NO_SUCH_CARD"
    case noSuchCopy = "NO_SUCH_COPY"
    case noSuchDeletedBook = "NO_SUCH_DELETED_BOOK"
    case noSuchDocument = "NO_SUCH_DOCUMENT"
    case noSuchGoal = "NO_SUCH_GOAL"
    case noSuchImport = "NO_SUCH_IMPORT"
    case noSuchLink = "NO_SUCH_LINK"
    case noSuchNote = "NO_SUCH_NOTE"
    case noSuchProgress = "NO_SUCH_PROGRESS"
    case noSuchRead = "NO_SUCH_READ"
    case noSuchReview = "NO_SUCH_REVIEW"
    case noSuchShelf = "NO_SUCH_SHELF"
    case noSuchToken = "NO_SUCH_TOKEN"
    case noSuchUser = "NO_SUCH_USER"

    /// The reason of the engine's errors about values that do not have the type that the schema requires, and of errors about the
    /// form of a request. Their messages are for developers.
    package static let invalidRequest = Value.Member("reason", .string("INVALID_REQUEST"))
}

extension ErrorCodes {
    /// The codes of Apollo's servers, and the reason of invalid input.
    package static let bookplate = ErrorCodes.apollo.with { kind in
        kind == .invalidInput ? [ErrorReason.invalidRequest] : []
    }
}

/// A reason with the values that its sentence names.
package struct InputProblem: Sendable, Equatable {
    package let reason: ErrorReason
    /// The smallest value that is allowed.
    package let min: Double?
    /// The largest value, length, or number that is allowed.
    package let max: Double?
    /// The part of the input that is wrong.
    package let value: String?
    /// An English sentence that says more than the sentence of the reason, for example what is wrong with a file.
    package let detail: String?

    package init(
        _ reason: ErrorReason, min: Double? = nil, max: Double? = nil, value: String? = nil,
        detail: String? = nil
    ) {
        self.reason = reason
        self.min = min
        self.max = max
        self.value = value
        self.detail = detail
    }

    package init(_ reason: ErrorReason, min: Int? = nil, max: Int) {
        self.init(reason, min: min.map { Double($0) }, max: Double(max))
    }
}
