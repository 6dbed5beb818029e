extension ErrorTexts {
    static let english = ErrorTexts(
        language: "en", groupSeparator: ",", decimalSeparator: ".",
        signIn: "Sign in and try again.",
        tooManyRequests: "Too many requests. Try again in {seconds} s.",
        notDone:
            "The server cannot reach the data now. Nothing was changed. Try again in {seconds} s.",
        unknownOutcome:
            "The database did not respond. The change may have been made. Send it again in {seconds} s, with the same id.",
        storageFull:
            "The server cannot store files now. Nothing was changed. Try again in {seconds} s.",
        resetRequired:
            "The change log does not continue from this cursor. Fetch the whole library again, then continue from extensions.cursor.",
        internalError:
            "An internal error occurred. Try again. If the error persists, report the request ID.",
        text: english)

    @Sendable private static func english(_ reason: ErrorReason) -> String {
        switch reason {
        case .empty: "{field} may not be empty."
        case .required: "{field} is required, and cannot be null."
        case .tooLong: "{field} may have at most {max} characters."
        case .tooMany: "{field} may have at most {max} entries."
        case .tooSmall: "{field} must be at least {min}."
        case .outOfRange: "{field} must be from {min} to {max}."
        case .duplicate: "{field} is used twice. Each entry needs its own."
        case .conflictingFields: "Send only one of {value}."
        case .invalidChoice: "{field} cannot have this value here."
        case .invalidCharacter: "{field} contains a NUL character."
        case .invalidID: "The ID must be a UUID. Omit it to get a new one."
        case .invalidCursor:
            "This cursor does not belong to this list. Start again without a cursor."
        case .invalidDate: "Write a year, month, or day, such as 2019, 2019-05, or 2019-05-01."
        case .inFuture: "This is too far in the future."
        case .inPast: "This time is in the past. Send a time in the future."
        case .datesReversed:
            "The last day cannot be before the first day. Correct one of them."
        case .invalidLanguage:
            "“{value}” is not a language. Send tags of BCP 47, such as en, pt-BR, or zh-Hant."
        case .unknownTimeZone:
            "There is no such time zone. Send a name such as Europe/Berlin or America/New_York."
        case .unknownGenre: "There is no genre “{value}”. See Query.genres."
        case .limitReached: "At most {max} are allowed. Delete some first."
        case .wrongConfirmation:
            "To delete the account, send your own user ID as confirm."
        case .invalidCredential: "This is not an authorization code from Apple."
        case .identityTaken:
            "This identity belongs to another account. Sign in with it to use that account."
        case .secondAppleIdentity:
            "The account has an identity of Apple already. Unlink it first."
        case .onlyIdentity:
            "This is the only identity of the account. Link another one first, or delete the account."
        case .unknownDocument:
            "The list contains a text that is not the id or hash of a trusted document. The operator registers documents."
        case .scopeNotRequested: "Allow only scopes for which the app has asked."
        case .alreadyDecided:
            "The request was denied, or the app has got its access. Use revokeAuthorizedApp to end that."
        case .signInUnavailable:
            "Signing in is temporarily not possible. Try again in a moment."
        case .isbnLength: "An ISBN has 10 or 13 digits. Check the number and try again."
        case .isbnCheckDigit:
            "The check digit of the ISBN does not match. Check for a typing error."
        case .notAnISBN: "This barcode is not an ISBN. ISBNs start with 978, 9791, or 9798."
        case .shortBarcode:
            "This is an EAN-8, a short barcode that books do not have. Scan the barcode that starts with 978 or 979."
        case .productBarcode:
            "This is a UPC, a barcode that does not identify a book. Look for the ISBN next to it or on the copyright page."
        case .placeholderISBN: "This number is a placeholder, not the ISBN of a book."
        case .unknownISBN: "No book with this ISBN is known. Add it with its title."
        case .sourcesUnavailable:
            "No book service is available at the moment. Try again later, or add the book with a title."
        case .emptyBook: "A book needs a title, an ISBN, or a card."
        case .emptyReview:
            "A review needs a rating or a text. To delete a review, use deleteReview."
        case .emptyNote: "A note needs a text or a comment."
        case .invalidStars: "Stars must be a multiple of {min}, at most {max}."
        case .openReadWithEnd:
            "A read that is READING has no last day. Remove it, or set the outcome to FINISHED or DID_NOT_FINISH."
        case .severalOpenReads:
            "At most one read of a book is READING. Set the outcome of the others."
        case .readIsOpen: "This book already has an open read. Finish it first."
        case .statusContradictsReads:
            "A book with a read that is READING cannot have this status. Omit the status."
        case .beyondEnd: "This is beyond the end of the book: it may be at most {max}."
        case .belowProgress:
            "The reader has reached page {min}. Send at least as many pages, or change currentPage, too."
        case .nameTaken: "“{value}” already exists. Choose another name."
        case .alreadyInLibrary: "This book is already in the library."
        case .idTaken: "This ID belongs to another object. Choose a new UUID, or omit the ID."
        case .deleted: "The object with this ID was deleted. Choose a new UUID."
        case .guestBooks: "A guest can have at most {max} books. Sign in to add more."
        case .copyIsLent: "This copy is lent already. Record first that it is back."
        case .invalidFile: "The file cannot be read."
        case .fileTooLarge: "The file may have at most {max} MiB."
        case .notAFile:
            "Send the file in a multipart/form-data request whose map refers to this variable."
        case .invalidImage: "The file is not an image that can be read. Send it as a plain JPEG."
        case .invalidImageURL:
            "The image cannot be fetched from this URL. Use a public http or https URL."
        case .noImageAtURL: "The URL did not return an image."
        case .lateImage: "The image arrived too late to be stored. Send it again."
        case .coverStorageUsed:
            "Your covers use all of your storage. Remove some, and try again."
        case .serverStorageFull: "The storage for covers is full. Try again later."
        case .noSuchApp: "There is no app with this ID. Check the bundle ID or client ID."
        case .noSuchAuthor: "The catalog has no book of this person."
        case .noSuchAuthorization:
            "There is no request with this code. Codes work for ten minutes: start again in the app that asks."
        case .noSuchBook: "There is no such book in the library."
        case .noSuchCard: "There is no such book in the catalog."
        case .noSuchCopy: "There is no such copy of a book in the library."
        case .noSuchDeletedBook: "No book with this ID was deleted in the last 30 days."
        case .noSuchDocument: "There is no such document. Open it once more on the e-reader."
        case .noSuchGoal: "There is no such goal."
        case .noSuchImport: "There is no such import."
        case .noSuchLink: "This link is invalid, or it has ended."
        case .noSuchNote: "There is no such note in the library."
        case .noSuchProgress: "There is no such progress entry in the library."
        case .noSuchRead: "There is no such read in the library."
        case .noSuchReview: "There is no such review in the library."
        case .noSuchShelf: "There is no such shelf."
        case .noSuchToken: "There is no such access token."
        case .noSuchUser: "This user does not exist."
        }
    }
}
