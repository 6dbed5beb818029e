import BookSources
import Postgres

/// A record of an export of The StoryGraph.
enum StoryGraphRecord {
    static let columns = ["Title", "Authors", "Read Status", "Star Rating"]

    private static let statuses = [
        "to-read": "WANT_TO_READ", "currently-reading": "READING", "read": "READ",
        "did-not-finish": "DID_NOT_FINISH", "paused": "PAUSED",
    ]

    static func book(_ fields: ImportFields) throws(ImportFields.Problem) -> ImportedBook {
        // Narrators and translators are in a column of their own, such as `Jim Dale (Narrator)`.
        let others = Contributor.list(
            try fields.text("Contributors", max: ImportFields.authorsCharactersMax) ?? "")
        var book = try fields.book(
            authors: "Authors",
            as: { text in
                let others = others.map {
                    Contributor(name: $0.name, role: $0.role == .author ? .contributor : $0.role)
                }
                return BookAuthors(Contributor.list(text) + others, writtenAs: text)
            }, key: fields.raw("ISBN/UID").trimmed, of: "storygraph")
        book.isbn = fields.isbn("ISBN/UID")
        let status = fields.raw("Read Status").trimmed.lowercased()
        guard let known = statuses[status] else {
            throw .init("Read Status is unknown: \(status.prefix(40))")
        }
        book.status = known
        book.addedAt = try fields.day("Date Added")
        (book.startedAt, book.finishedAt) = try lastDates(fields)
        book.shelves = try fields.names("Tags", max: Shelf.nameCharactersMax)
        try fields.addReview(text: "Review", rating: "Star Rating", to: &book)
        return book
    }

    /// Returns the dates of the last reading, which is `2023/05/01` in `2022/02/01-2022/02/11, 2023/05/01`. If the
    /// record has no such dates, the finishing date is `Last Date Read`.
    private static func lastDates(
        _ fields: ImportFields
    ) throws(ImportFields.Problem) -> (started: Instant?, finished: Instant?) {
        let name = "Dates Read"
        guard let last = fields.raw(name).split(separator: ",").last, !String(last).trimmed.isEmpty
        else { return (nil, try fields.day("Last Date Read")) }
        let days = last.split(separator: "-", omittingEmptySubsequences: false)
        switch days.count {
        case 1: return (nil, try ImportFields.day(days[0], of: name))
        case 2:
            return (
                try ImportFields.day(days[0], of: name), try ImportFields.day(days[1], of: name)
            )
        default:
            throw .init(
                "\(name) does not have dates like 2022/02/01-2022/02/11: \(last.prefix(40))")
        }
    }
}
