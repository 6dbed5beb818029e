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
    /// Why fields were left out.
    var problems: [Problem] = []

    static let authorsMax = 50
    static let descriptionCharactersMax = 20_000
    static let hookCharactersMax = 140

    /// A line is invalid, or a field of it.
    struct Problem: Error, Equatable {
        /// The reason as one or more sentences, without the last full stop.
        let message: String
        /// The member or the field with the problem.
        let member: String?
        /// The offset of the problem in the line, in bytes.
        let offset: Int?

        init(_ message: String, member: String? = nil, offset: Int? = nil) {
            self.message = message.last == "." ? String(message.dropLast()) : message
            self.member = member
            self.offset = offset
        }
    }

    /// Parses a line of JSON.
    init(line: [UInt8]) throws(Problem) {
        let value: Value
        do throws(JSONError) {
            value = try parseJSON(line)
        } catch {
            // One bad character does not lose the record.
            guard error.isRepairable, let repaired = try? parseJSON(repairedJSON(line)) else {
                let (reason, offset) = error.clause
                throw Problem("not JSON: \(reason)", offset: offset)
            }
            value = repaired
        }
        guard case .object = value else { throw Problem("not an object") }
        try self.init(JSON(value))
    }

    /// Reads an object. Each field may have any of the forms that `RecordReader` reads. A field that cannot be read is left out and
    /// reported. A record with a wrong ISBN is not read at all: without its ISBN, it would become another book, which a corrected file
    /// would not replace.
    ///
    /// - Throws: If there is no title, or only wrong ISBNs.
    init(_ json: JSON) throws(Problem) {
        var unreadable: [String] = []
        let reader = RecordReader(json) { unreadable.append($0) }
        func reported(_ member: String) -> Problem {
            Problem("\(member) cannot be read. It was left out.", member: member)
        }
        guard let title = try Self.text(reader.line("title"), "title") else {
            throw Problem(
                unreadable.isEmpty ? "title is missing" : "title is not text", member: "title")
        }
        self.title = title
        isbn = try Self.isbn(reader)
        subtitle = field("subtitle", reader.line("subtitle"))
        readSeries(reader)
        readAuthors(reader, "authors")
        if authors.isEmpty { readAuthors(reader, "author") }
        publisher = field("publisher", reader.line("publisher"))
        publishedDate = Self.publishedDate(reader)
        language = reader.language("language")
        pageCount = reader.pageCount("pageCount", "page_count").flatMap { Int32(exactly: $0) }
        for subject in reader.lines("genres").prefix(EditionFacts.genresMax)
        where !subjects.contains(subject) { subjects.append(subject) }
        description = field(
            "description", reader.paragraphs("description"), max: Self.descriptionCharactersMax)
        hook = field("hook", reader.line("hook"), max: Self.hookCharactersMax)
        averageRating = reader.value("averageRating", "average_rating") { json in
            json.double.flatMap { (0...5).contains($0) ? $0 : nil }
        }
        ratingsCount =
            reader.value("ratingsCount", "ratings_count") { json in
                json.double.map { Int32(max(0, min($0.rounded(), Double(Int32.max)))) }
            } ?? 0
        readKeys(reader)
        problems += unreadable.map(reported)
    }

    /// Returns the text without surrounding whitespace; nil if it is blank.
    private static func text(
        _ text: String?, _ name: String, max: Int = 500
    ) throws(Problem) -> String? {
        do throws(BookplateError) {
            return try TextInput.optional(text, field: name, charactersMax: max)
        } catch {
            throw Problem(error.message, member: name)
        }
    }

    /// Returns the text of a field; nil if it is blank or, with a report, if it is too long.
    private mutating func field(_ name: String, _ text: String?, max: Int = 500) -> String? {
        do throws(Problem) {
            return try Self.text(text, name, max: max)
        } catch {
            leaveOut(error.message, member: name)
            return nil
        }
    }

    /// Reports a part of a field.
    private mutating func leaveOut(_ reason: String, member: String) {
        problems.append(Problem("\(reason). It was left out.", member: member))
    }
}

/// Single fields.
extension CatalogRecord {
    /// Returns the first valid ISBN. A text may have several ISBNs with commas between them.
    private static func isbn(_ reader: RecordReader) throws(Problem) -> ISBN? {
        var problem: Problem?
        for member in ["isbn13", "isbn10", "isbn"] {
            for text in reader.isbns(member).flatMap({ $0.split(separator: ",") }) {
                switch ISBN.read(text) {
                case .success(let isbn): return isbn
                case .failure(let failure):
                    problem =
                        problem
                        ?? Problem("ISBN \(text.prefix(40)): \(failure.message)", member: member)
                }
            }
        }
        if let problem { throw problem }
        return nil
    }

    /// Reads the first series that is not one of a publisher. A text without a separate position may contain it.
    private mutating func readSeries(_ reader: RecordReader) {
        let names = reader.lines("series")
        let position = reader.value("seriesPosition", "series_position") { json in
            json.anyText ?? json.double.map { "\($0)" }
        }
        let series =
            position == nil ? names.lazy.compactMap { SeriesName(catalog: $0) }.first : nil
        self.series = field("series", series?.name ?? names.first)
        seriesPosition = field("seriesPosition", series?.position ?? position)
    }

    /// Reads names, such as `Tony Ross (Illustrator)`, and objects with the members `name`, `role`, and `bio`.
    private mutating func readAuthors(_ reader: RecordReader, _ member: String) {
        let isList = !(reader.json[member]?.items ?? []).isEmpty
        let items = reader.list(member) { json in
            AuthorReference(json, prefersName: true).map { (json, $0) }
        }
        for (json, reference) in items {
            guard case .name(let written) = reference else {
                leaveOut("An author has a key, but no name", member: member)
                continue
            }
            guard let text = field(member, written) else { continue }
            var found = isList ? [Contributor(catalog: text)] : Contributor.catalogList(text)
            if let role = json["role"]?.anyText {
                for index in found.indices {
                    found[index].role =
                        AuthorRole(rawValue: role.uppercased()) ?? AuthorRole(words: role)
                        ?? .contributor
                }
            }
            if let bio = AuthorRecord.bio((json["bio"] ?? json["author"]?["bio"])?.anyText),
                let author = found.first
            {
                bios.append((author.name, bio))
            }
            authors += found.filter { !$0.name.isEmpty }
        }
        authors = Array(authors.prefix(Self.authorsMax))
    }

    private static func publishedDate(_ reader: RecordReader) -> PartialDate? {
        reader.value("publishedDate", "published_year") { json -> PartialDate? in
            if let year = json.int {
                // A year before the common era has no form that can be stored.
                if year < 1 { return nil }
                if let date = PartialDate(year: year, month: nil, day: nil, years: 1...9999) {
                    return date
                }
            }
            return json.anyText.flatMap {
                PartialDate($0, years: 1...9999) ?? BookSources.publishedDate($0)
            }
        }
    }

    /// Reads the ids of the edition and of the work at sources.
    private mutating func readKeys(_ reader: RecordReader) {
        for (source, key) in keys("ids", reader.json) { addKey(source, key, to: \.sources, "ids") }
        let goodreadsID = reader.value("goodreads_book_id") { $0.int }
        if let key = goodreadsID { sources.append(("goodreads", "\(key)")) }
        for (source, key) in keys("workIds", reader.json) { addWorkKey(source, key, "workIds") }
        // The form of Open Library's own records.
        if let key = reader.list("works", { ($0["key"] ?? $0).anyText }).first {
            addWorkKey("open_library", key, "works")
        }
        let goodreadsWork = reader.value("goodreads_work_id") { $0.int }
        if let key = goodreadsWork { addWorkKey("goodreads", "\(key)", "goodreads_work_id") }
        // Wikidata describes works.
        for source in sources where source.source == "wikidata" {
            addWorkKey(source.source, source.key, "ids")
        }
    }

    /// Returns the members of an object, sorted by name.
    private mutating func keys(_ member: String, _ json: JSON) -> [(source: String, key: String)] {
        guard let value = json[member], value.hasContent else { return [] }
        guard case .object(let members) = value else {
            leaveOut("\(member) is not an object", member: member)
            return []
        }
        var keys: [(String, String)] = []
        for (name, value) in members.sorted(by: { $0.key < $1.key }) where value.hasContent {
            if let key = value.anyText {
                keys.append((name, key))
            } else {
                leaveOut("An id of \(member) is not text", member: member)
            }
        }
        return keys
    }

    /// Adds the id of the work at a source. A key of Open Library may have its path: `/works/OL45804W`. Further keys of the same source
    /// are ignored.
    private mutating func addWorkKey(_ source: String, _ key: String, _ member: String) {
        guard !workKeys.contains(where: { $0.source == source }) else { return }
        let id = source == "open_library" ? key.split(separator: "/").last.map { String($0) } : key
        addKey(source, id ?? "", to: \.workKeys, member)
    }

    /// Adds an id if it can be stored, and reports it otherwise.
    private mutating func addKey(
        _ source: String, _ key: String,
        to keys: WritableKeyPath<Self, [(source: String, key: String)]>, _ member: String
    ) {
        let isName = source.utf8.allSatisfy { $0 == UInt8(ascii: "_") || (97...122).contains($0) }
        guard isName, (1...32).contains(source.utf8.count) else {
            let name = source.filter { $0 != "\0" }.prefix(40)
            return leaveOut(
                "“\(name)” is not the name of a source, such as open_library", member: member)
        }
        guard (1...200).contains(key.unicodeScalars.count) else {
            return leaveOut(
                "The id of “\(source)” does not have 1 to 200 characters", member: member)
        }
        self[keyPath: keys].append((source, key))
    }
}

extension JSON {
    /// Converts a value of GraphQL.
    init(_ value: Value) {
        self =
            switch value {
            case .null: .null
            case .boolean(let flag): .bool(flag)
            case .int(let number): .number(Double(number))
            case .bigInt(let digits): .number(Double(digits) ?? .infinity)
            case .float(let number): .number(number)
            case .string(let text): .string(text)
            case .list(let items): .array(items.map { JSON($0) })
            case .object(let members):
                .object(
                    Dictionary(members.map { ($0.name, JSON($0.value)) }) { first, _ in first })
            }
    }

    /// A number, also if it is written as a string.
    fileprivate var double: Double? {
        let number: Double? =
            if case .number(let number) = self { number } else { anyText.flatMap { Double($0) } }
        return number.flatMap { $0.isFinite ? $0 : nil }
    }
}
