import Basics
import BookSources
import GraphQL
import Identity
import Postgres

/// The file `library.json` of Bookplate's own export, which has all data of a library except its covers.
enum BookplateFile {
    static let name = "bookplate library"

    /// Returns the records of all lists. A record comes after those that it refers to: shelves, then books, then progress
    /// entries and swipes.
    /// Its `line` is its position in this order, from 1.
    ///
    /// - Throws: `.badUserInput` if this is not such a file.
    static func records(_ bytes: [UInt8]) throws(BookplateError) -> [ImportRecord] {
        let file = try mappingError({ ImportFile.invalid("The file is not JSON: \($0)") }) {
            () throws(JSONError) in
            try parseJSON(bytes, limits: JSONLimits(bytesMax: bytes.count))
        }
        guard file["format"]?.string == name, file["version"]?.int == 1 else {
            throw ImportFile.invalid("This file is not a library that Bookplate has exported.")
        }
        var records: [ImportRecord] = []
        for (list, read) in [
            ("shelves", shelf), ("books", book), ("progressEntries", progress), ("swipes", swipe),
        ] as [(String, (Fields) throws(ImportFields.Problem) -> ImportRecord.Content)] {
            for item in file[list]?.list ?? [] {
                guard records.count <= ImportFile.recordsMax else { break }
                let line = records.count + 1
                do throws(ImportFields.Problem) {
                    records.append(ImportRecord(line: line, content: try read(Fields(item))))
                } catch {
                    records.append(
                        ImportRecord(line: line, content: .nothing, problem: error.message))
                }
            }
        }
        return records
    }

    /// The members of a record's JSON object.
    private struct Fields {
        let value: Value

        init(_ value: Value) { self.value = value }

        func text(_ name: String, max: Int) throws(ImportFields.Problem) -> String? {
            guard let value = value[name], !value.isNull else { return nil }
            guard let text = value.string else { throw .init("\(name) is not text.") }
            return try mappingError({ ImportFields.Problem($0.message) }) {
                () throws(BookplateError) in
                try TextInput.optional(text, field: name, charactersMax: max)
            }
        }

        func required(_ name: String, max: Int) throws(ImportFields.Problem) -> String {
            guard let text = try text(name, max: max) else { throw .init("\(name) is missing.") }
            return text
        }

        func id(_ name: String) throws(ImportFields.Problem) -> UUID? {
            guard let value = value[name], !value.isNull else { return nil }
            guard let id = value.string.flatMap({ UUID($0) }) else {
                throw .init("\(name) is not a UUID.")
            }
            return id
        }

        func number(_ name: String, _ range: ClosedRange<Int>) throws(ImportFields.Problem) -> Int?
        {
            guard let value = value[name], !value.isNull else { return nil }
            guard let number = value.int, range.contains(number) else {
                throw .init("\(name) is not between \(range.lowerBound) and \(range.upperBound).")
            }
            return number
        }

        func instant(_ name: String) throws(ImportFields.Problem) -> Instant? {
            guard let value = value[name], !value.isNull else { return nil }
            guard let instant = value.string.flatMap({ Instant($0) }) else {
                throw .init("\(name) is not a date and time like 2026-01-31T12:00:00Z.")
            }
            return instant
        }

        func date(_ name: String) throws(ImportFields.Problem) -> PartialDate? {
            guard let value = value[name], !value.isNull else { return nil }
            guard let date = value.string.flatMap({ PartialDate($0) }) else {
                throw .init("\(name) is not a date like 2019, 2019-05, or 2019-05-01.")
            }
            return date
        }

        func choice(_ name: String, _ choices: [String]) throws(ImportFields.Problem) -> String {
            guard let text = value[name]?.string, choices.contains(text) else {
                throw .init("\(name) is not one of \(choices.joined(separator: ", ")).")
            }
            return text
        }
    }

    private static func shelf(
        _ fields: Fields
    ) throws(ImportFields.Problem) -> ImportRecord.Content {
        .shelf(
            ImportedShelf(
                id: try fields.id("id"),
                name: try fields.required("name", max: Shelf.nameCharactersMax),
                createdAt: try fields.instant("createdAt")))
    }

    private static func swipe(
        _ fields: Fields
    ) throws(ImportFields.Problem) -> ImportRecord.Content {
        guard let card = try fields.id("cardId"), let time = try fields.instant("swipedAt") else {
            throw .init("cardId or swipedAt is missing.")
        }
        return .swipe(
            ImportedSwipe(
                cardID: card,
                action: try fields.choice("action", ["LIKE", "SKIP", "DISLIKE", "BUY"]),
                store: try fields.text("store", max: 100),
                // Times in the future are clamped to the current time, as in `recordSwipes`.
                swipedAt: Instant(
                    microseconds: min(time.microseconds, unixSecondsNow() * 1_000_000))))
    }

    /// Reads the list `authors` or, in a file without it, the text `author`.
    private static func authors(_ fields: Fields) throws(ImportFields.Problem) -> BookAuthors {
        let nameMax = ImportFields.authorsCharactersMax
        let text = try fields.text("author", max: nameMax)
        guard let list = fields.value["authors"]?.list else {
            return BookAuthors(text.map(Contributor.authors) ?? [], writtenAs: text)
        }
        var authors: [Contributor] = []
        for author in list.prefix(BookAuthors.storedMax) {
            let fields = Fields(author)
            authors.append(
                Contributor(
                    name: try fields.required("name", max: nameMax),
                    // A newer server may have written a role that this one does not know.
                    role: author["role"].map {
                        AuthorRole(rawValue: $0.string ?? "") ?? .contributor
                    } ?? .author))
        }
        return BookAuthors(authors, writtenAs: text)
    }

    private static func read(_ fields: Fields) throws(ImportFields.Problem) -> ImportedRead {
        var read = ImportedRead(
            outcome: try fields.choice("outcome", ["READING", "FINISHED", "DID_NOT_FINISH"]))
        read.id = try fields.id("id")
        read.startedOn = try fields.date("startedOn")
        read.finishedOn = try fields.date("finishedOn")
        if read.outcome == "READING", read.finishedOn != nil {
            throw .init("A read that is READING has a finishedOn.")
        }
        if let start = read.startedOn, let end = read.finishedOn, end.isBefore(start) {
            throw .init("finishedOn is before startedOn.")
        }
        if let format = fields.value["format"], !format.isNull {
            read.format = try fields.choice("format", ["PRINT", "EBOOK", "AUDIO"])
        }
        read.lengthSeconds = try fields.number("lengthSeconds", 1...Int(Int32.max))
        read.note = try fields.text("note", max: Read.noteCharactersMax)
        read.createdAt = try fields.instant("createdAt")
        read.updatedAt = try fields.instant("updatedAt")
        return read
    }

    private static func progress(
        _ fields: Fields
    ) throws(ImportFields.Problem) -> ImportRecord.Content {
        guard let id = try fields.id("id"), let read = try fields.id("readId"),
            let at = try fields.instant("at")
        else { throw .init("id, readId, or at is missing.") }
        var entry = ImportedProgress(id: id, readID: read, at: at)
        entry.page = try fields.number("page", 0...Int(Int32.max))
        entry.seconds = try fields.number("seconds", 0...Int(Int32.max))
        switch fields.value["percent"] {
        case .float(let percent) where (0...100).contains(percent): entry.percent = percent
        case .int(let percent) where (0...100).contains(percent): entry.percent = Double(percent)
        case nil, .null: break
        default: throw .init("percent is not between 0 and 100.")
        }
        guard
            [entry.page != nil, entry.percent != nil, entry.seconds != nil].count(where: \.self)
                == 1
        else { throw .init("A progress entry has exactly one of page, percent, and seconds.") }
        entry.note = try fields.text("note", max: Read.noteCharactersMax)
        entry.createdAt = try fields.instant("createdAt")
        entry.updatedAt = try fields.instant("updatedAt")
        return .progress(entry)
    }

    private static func book(
        _ fields: Fields
    ) throws(ImportFields.Problem) -> ImportRecord.Content {
        let title = try fields.required("title", max: BookCreation.titleCharactersMax)
        var book = ImportedBook(
            id: try fields.id("id") ?? .derived(from: "title", title), title: title)
        book.cardID = try fields.id("cardId")
        book.authors = try authors(fields)
        if let text = try fields.text("isbn13", max: 200) {
            guard case .success(let isbn) = ISBN.read(text) else {
                throw .init("isbn13 is not an ISBN: \(text.prefix(40))")
            }
            book.isbn = isbn
        }
        book.publisher = try fields.text("publisher", max: 500)
        book.publishedDate = try fields.text("publishedDate", max: 100)
        book.pageCount = try fields.number("pageCount", 1...Int(Int32.max)).map(Int32.init)
        book.language = try fields.text("language", max: 35)
        book.category = try fields.text("category", max: BookCreation.labelCharactersMax)
        book.genre = try fields.text("genre", max: BookCreation.labelCharactersMax)
        book.description = try fields.text("description", max: 100_000)
        if let series = fields.value["series"]?.list?.first {
            let fields = Fields(series)
            book.series = try fields.required("name", max: SeriesInput.nameCharactersMax)
            book.seriesPosition = try fields.text(
                "position", max: SeriesInput.positionCharactersMax)
        }
        book.status = try fields.choice(
            "status", ["WANT_TO_READ", "READING", "READ", "PAUSED", "DID_NOT_FINISH"])
        book.currentPage = try fields.number("currentPage", 0...Int(Int32.max)).map(Int32.init)
        book.addedAt = try fields.instant("addedAt")
        book.startedAt = try fields.instant("startedAt")
        book.finishedAt = try fields.instant("finishedAt")
        book.updatedAt = try fields.instant("updatedAt")
        for shelf in fields.value["shelves"]?.list ?? [] {
            let name = try Fields(.object([.init("shelf", shelf)]))
                .required("shelf", max: Shelf.nameCharactersMax)
            book.shelves.append(name)
        }
        guard book.shelves.count <= BookCreation.shelvesMax else {
            throw .init("A book can be on at most \(BookCreation.shelvesMax) shelves.")
        }
        if let list = fields.value["reads"]?.list {
            guard list.count <= Read.ofBookMax else {
                throw .init("A book may have at most \(Read.ofBookMax) reads.")
            }
            var reads: [ImportedRead] = []
            for item in list { reads.append(try read(Fields(item))) }
            book.reads = reads
        }
        if let review = fields.value["review"], !review.isNull {
            let fields = Fields(review)
            let rating = try fields.number("rating", 1...5)
            let text = try fields.text("text", max: Review.textCharactersMax)
            guard rating != nil || text != nil else {
                throw .init("rating and text are missing.")
            }
            book.review = ImportedReview(
                id: try fields.id("id"), rating: rating, text: text,
                createdAt: try fields.instant("createdAt"),
                updatedAt: try fields.instant("updatedAt"))
        }
        return .book(book)
    }
}
