import Basics
import Bookplate
import GraphQL
import Requests

/// A reader to load, with the account and the library.
struct ReaderRecord {
    let subject: String
    /// The reader as an element of the parameter of the SQL function `import_readers`.
    let json: Value
    let bookCount: Int
    /// A sentence for each value that was left out.
    let problems: [String]

    static let booksMax = 50_000
    static let shelvesMax = Shelf.countMax

    /// - Throws: If the line is not a reader.
    init(_ line: [UInt8]) throws(ImportProblem) {
        let value: Value
        do throws(JSONError) {
            value = try parseJSON(line, limits: JSONLimits(bytesMax: line.count))
        } catch {
            let repaired = repairedJSON(line)
            let limits = JSONLimits(bytesMax: repaired.count)
            guard let found = try? parseJSON(repaired, limits: limits) else {
                throw ImportProblem(error.message)
            }
            value = found
        }
        let members = BookplateMembers(value)
        guard let subject = Self.subject(members) else {
            throw ImportProblem("`sub` is missing or too long.")
        }
        self.subject = subject
        let books = value["books"]?.list ?? []
        guard books.count <= Self.booksMax else {
            throw ImportProblem("A reader may have at most \(Self.booksMax) books.")
        }
        var problems: [String] = []
        var shelves = members.texts("shelves", max: Shelf.nameCharactersMax)
        var bookValues: [Value] = []
        for (index, book) in books.enumerated() {
            do throws(ImportProblem) {
                let (book, found) = try Self.book(book, of: subject)
                problems += found.map { "books[\(index)].\($0.field ?? ""): \($0.message)" }
                shelves += book.shelves
                bookValues.append(book.json)
            } catch {
                problems.append("books[\(index)]: \(error.message)")
            }
        }
        var known: Set<String> = []
        shelves = shelves.filter { known.insert($0.lowercased()).inserted }
        if shelves.count > Self.shelvesMax {
            problems.append("shelves: Only the first \(Self.shelvesMax) were kept.")
            shelves = Array(shelves.prefix(Self.shelvesMax))
        }
        json = .object([
            .init("subject", .string(subject)),
            .init(
                "displayName",
                .text(members.text("displayName", max: Sessions.displayNameCharactersMax))),
            .init("email", .text(Self.email(members))),
            .init("createdAt", .text(members.instant("createdAt")?.preciseText)),
            .init("timeZone", .text(members.text("timeZone", max: 100))),
            .init(
                "preferredGenres",
                .list(
                    members.texts("preferredGenres", max: BookCreation.labelCharactersMax)
                        .prefix(User.preferredGenresMax).map { .string($0) })),
            .init(
                "languages",
                .list(
                    ReaderLanguages.known(
                        members.texts("languages", max: BookCreation.labelCharactersMax)
                    ).map { .string($0) })),
            .init("shelves", .list(shelves.map { .string($0) })),
            .init("books", .list(bookValues)),
        ])
        bookCount = bookValues.count
        self.problems = members.problems.map { "\($0.field ?? ""): \($0.message)" } + problems
    }

    /// The value of `identities.subject`, as `VerifiedIdentity.subject` has it.
    private static func subject(_ members: BookplateMembers) -> String? {
        guard let subject = members.text("sub", max: 255) else { return nil }
        return members.text("issuer", max: 500).map { "\($0)\u{1F}\(subject)" } ?? subject
    }

    private static func email(_ members: BookplateMembers) -> String? {
        guard let email = members.text("email", max: 254) else { return nil }
        guard email.contains("@"), !email.contains(where: \.isWhitespace) else {
            members.report("email", "“\(email.prefix(40))” is not an e-mail address.")
            return nil
        }
        return email
    }

    /// Reads a book in the form of `library.json`, in which `review` may be a text with a `rating` beside it. A book without an
    /// id gets one that is the same each time, and so do its reads.
    private static func book(
        _ value: Value, of subject: String
    ) throws(ImportProblem) -> (ImportedBook, [ImportProblem]) {
        let members = BookplateMembers(value)
        var book = try BookplateFile.book(members)
        if value["id"] == nil {
            book.id = .derived(
                from: "reader", subject, book.isbn?.description ?? "", book.title.lowercased(),
                book.authors.names.first?.lowercased() ?? "")
            // Their ids follow from that of the book.
            if value["reads"]?.list == nil { book.reads = book.derivedReads }
        }
        if let last = book.reads.last {
            book.startedAt = book.startedAt ?? last.startedOn?.start
            if last.outcome == .finished {
                book.finishedAt = book.finishedAt ?? last.finishedOn?.start
            }
        }
        for (index, read) in book.reads.enumerated() where read.id == nil {
            book.reads[index].id = .derived(
                from: "read", book.id.description, "\(index)", read.startedOn?.text ?? "",
                read.finishedOn?.text ?? "")
        }
        return (book, members.problems)
    }
}
