import Basics
import BookSources
import Bookplate
import GraphQL
import Requests

/// A book in a catalog file: a JSON object, or a row of a table (`CatalogTable`).
struct CatalogRecord {
    var title: String
    var subtitle: String?
    var series: String?
    var seriesPosition: String?
    var authors: [Contributor] = []
    /// The biographies of some of the authors, by name.
    var bios: [(name: String, bio: String)] = []
    var isbn: ISBN?
    var publisher: String?
    var publishedDate: PartialDate?
    var language: String?
    var pageCount: Int32?
    /// The names of genres as the source writes them.
    var subjects: [String] = []
    var description: String?
    /// One sentence for cards. Without it, the import picks one from the description.
    var hook: String?
    var averageRating: Double?
    var ratingsCount: Int32 = 0
    /// External ids by source.
    var sources: [(source: String, key: String)] = []
    /// External ids of the work by source, at most one for each source.
    var workKeys: [(source: String, key: String)] = []

    static let authorsMax = 50
    static let descriptionCharactersMax = 20_000
    static let hookCharactersMax = 140

    /// A line is invalid.
    struct Problem: Error, Equatable {
        /// The reason as a sentence, without a full stop.
        let message: String
        /// The member or the field with the problem.
        let member: String?
        /// The offset of the problem in the line, in bytes.
        let offset: Int?

        init(_ message: String, member: String? = nil, offset: Int? = nil) {
            self.message = message
            self.member = member
            self.offset = offset
        }
    }

    /// - Throws: If the title is blank or too long.
    init(title: String) throws(Problem) {
        guard let title = try Self.text(title, "title") else {
            throw Problem("title is missing", member: "title")
        }
        self.title = title
    }

    /// Returns the text without surrounding whitespace; nil if it is blank.
    static func text(
        _ text: String?, _ name: String, max: Int = 500
    ) throws(Problem) -> String? {
        do throws(BookplateError) {
            // PostgreSQL stores no NUL characters.
            return try TextInput.optional(
                text.map { $0.utf8.contains(0) ? $0.replacing("\0", with: "") : $0 }, field: name,
                charactersMax: max)
        } catch {
            throw Problem(error.message, member: name)
        }
    }

    /// Parses a line of JSON. A null member is the same as an absent one.
    init(line: [UInt8]) throws(Problem) {
        let json: Value
        do throws(JSONError) {
            json = try parseJSON(line)
        } catch {
            // One bad character does not lose the record.
            guard error.isRepairable, let repaired = try? parseJSON(repairedJSON(line)) else {
                let (reason, offset) = error.clause
                throw Problem("not JSON: \(reason)", offset: offset)
            }
            json = repaired
        }
        guard case .object = json else { throw Problem("not an object") }
        func text(_ name: String, max: Int = 500) throws(Problem) -> String? {
            guard let value = json[name], !value.isNull else { return nil }
            guard let text = value.string else {
                throw Problem("\(name) is not text", member: name)
            }
            return try Self.text(text, name, max: max)
        }
        /// A text of one line.
        func oneLine(_ name: String) throws(Problem) -> String? {
            try text(name, max: 2_000).flatMap { line throws(Problem) in
                try Self.text(plainLine(line), name)
            }
        }
        func texts(_ name: String) throws(Problem) -> [String] {
            guard let value = json[name], !value.isNull else { return [] }
            // A single text is a list of one.
            guard let list = value.list ?? value.string.map({ [.string($0)] }) else {
                throw Problem("\(name) is not a list", member: name)
            }
            return list.compactMap { ($0.string ?? $0["name"]?.string).flatMap(plainLine) }
        }
        try self.init(title: try oneLine("title") ?? "")
        subtitle = try oneLine("subtitle")
        series = try oneLine("series")
        seriesPosition = try text("seriesPosition")
        if seriesPosition == nil { seriesPosition = try text("series_position") }
        try readAuthors(json["authors"])
        var isbnText = try text("isbn13")
        if isbnText == nil { isbnText = try text("isbn10") }
        if let written = isbnText {
            switch ISBN.read(written) {
            case .success(let isbn): self.isbn = isbn
            case .failure(let problem):
                throw Problem(
                    "ISBN \(written): \(problem.message)",
                    member: json["isbn13"]?.string == written ? "isbn13" : "isbn10")
            }
        }
        publisher = try oneLine("publisher")
        if let text = try text("publishedDate", max: 100) {
            publishedDate = PartialDate(text, years: 1...9999) ?? BookSources.publishedDate(text)
        }
        if publishedDate == nil, let year = json["published_year"]?.int {
            publishedDate = PartialDate(year: year, month: nil, day: nil, years: 1...9999)
        }
        language = try text("language", max: 100).flatMap { Languages.tag($0) }
        pageCount = (json["pageCount"] ?? json["page_count"])?.int
            .flatMap { Int32(exactly: $0) }.flatMap { $0 > 0 ? $0 : nil }
        for subject in try texts("genres").prefix(EditionFacts.genresMax)
        where !subjects.contains(subject) { subjects.append(subject) }
        // Markup makes a text longer.
        description = try Self.text(
            text("description", max: 4 * Self.descriptionCharactersMax)
                .map { plainText(ofHTML: $0, isCatalog: true) }, "description",
            max: Self.descriptionCharactersMax)
        self.hook = try text("hook", max: 2_000).flatMap { line throws(Problem) in
            try Self.text(plainLine(line), "hook", max: Self.hookCharactersMax)
        }
        switch json["averageRating"] ?? json["average_rating"] {
        case .float(let rating) where (0...5).contains(rating): averageRating = rating
        case .int(let rating) where (0...5).contains(rating): averageRating = Double(rating)
        default: averageRating = nil
        }
        let count = (json["ratingsCount"] ?? json["ratings_count"])?.int ?? 0
        ratingsCount = Int32(clamping: max(0, count))
        if case .object(let members)? = json["ids"] {
            for member in members {
                if let key = member.value.string, !key.isEmpty {
                    sources.append((member.name, key))
                }
            }
        }
        if let key = json["goodreads_book_id"]?.int { sources.append(("goodreads", String(key))) }
        if case .object(let members)? = json["workIds"] {
            for member in members {
                if let key = member.value.string { addWorkKey(member.name, key) }
            }
        }
        // The form of Open Library's own records.
        if let key = json["works"]?.list?.first?["key"]?.string { addWorkKey("open_library", key) }
        if let key = json["goodreads_work_id"]?.int { addWorkKey("goodreads", String(key)) }
        // Wikidata describes works.
        for source in sources where source.source == "wikidata" {
            addWorkKey(source.source, source.key)
        }
    }

    /// Adds the id of the work at a source. A key of Open Library may have its path: `/works/OL45804W`. Keys that cannot be stored
    /// are ignored, and so are further keys of the same source.
    mutating func addWorkKey(_ source: String, _ key: String) {
        let key = source == "open_library" ? key.split(separator: "/").last.map(String.init) : key
        guard let key, (1...200).contains(key.unicodeScalars.count),
            !key.unicodeScalars.contains("\0"),
            source.wholeMatch(of: /[a-z_]{1,32}/) != nil,
            !workKeys.contains(where: { $0.source == source })
        else { return }
        workKeys.append((source, key))
    }
}

extension CatalogRecord {
    /// Reads a name, or a list of names, such as `Tony Ross (Illustrator)`, and of objects with the members `name`, `role`, and `bio`.
    private mutating func readAuthors(_ value: Value?) throws(Problem) {
        guard let value, !value.isNull else { return }
        // A single author is a list of one.
        for item in value.list ?? [value] {
            guard authors.count < Self.authorsMax else { return }
            let written = (item.string ?? item["name"]?.string).flatMap(plainLine)
            guard let text = try Self.text(written, "author") else { continue }
            var author = Contributor(labeled: text)
            if let role = item["role"]?.string {
                author.role =
                    AuthorRole(rawValue: role.uppercased()) ?? AuthorRole(words: role)
                    ?? .contributor
            }
            authors.append(author)
            if let bio = AuthorRecord.bio(item["bio"]?.string) { bios.append((author.name, bio)) }
        }
    }
}
