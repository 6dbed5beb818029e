import GraphQL

/// The JSON file that LibraryThing exports: an object with a member for each book. Its books become records with the columns of the
/// tab-separated file.
enum LibraryThingFile {
    /// The columns by the names of the members with the same content.
    private static let columns = [
        "books_id": "Book Id", "title": "Title", "publication": "Publication", "date": "Date",
        "review": "Review", "rating": "Rating", "comment": "Comment", "comments": "Comment",
        "privatecomment": "Private Comment", "pages": "Page Count", "datestarted": "Date Started",
        "startdate": "Date Started", "dateread": "Date Read", "entrydate": "Entry Date",
        "primaryauthor": "Primary Author", "primaryauthorrole": "Primary Author Role",
        "secondaryauthor": "Secondary Author", "secondaryauthorroles": "Secondary Author Roles",
        "originalisbn": "ISBN", "isbn": "ISBNs", "sortcharacter": "Sort Character",
        "summary": "Summary", "collections": "Collections", "tags": "Tags", "language": "Languages",
        "format": "Media", "copies": "Copies",
    ]

    /// Whether an object is a book of such a file.
    static func isBook(_ value: Value) -> Bool {
        value["title"] != nil && (value["books_id"] != nil || value["entrydate"] != nil)
    }

    /// Returns the names and the cells of a record.
    static func cells(_ book: Value) -> (names: [String], cells: [String]) {
        guard case .object(let members) = book else { return ([], []) }
        var names: [String] = []
        var cells: [String] = []
        for member in members {
            // Skip the ids and codes of values that other members have as text, and the authors: the names are in other members, too.
            if member.name.hasSuffix("_idA") || member.name.hasSuffix("_codeA")
                || member.name == "authors"
            {
                continue
            }
            names.append(columns[member.name] ?? text(.string(member.name)))
            cells.append(text(member.value))
        }
        return (names, cells)
    }

    /// Returns lists with commas between their items. Objects are those of ISBNs, `{"0": …, "2": …}`, and of formats,
    /// `{"code": …, "text": …}`.
    private static func text(_ value: Value) -> String {
        switch value {
        // PostgreSQL stores no null characters.
        case .string(let text): text.replacing("\0", with: "")
        case .int(let number): String(number)
        case .float(let number): String(number)
        case .boolean(let flag): String(flag)
        case .null, .bigInt: ""
        case .list(let items): items.map(text).filter { !$0.isEmpty }.joined(separator: ",")
        case .object(let members):
            value["text"].map(text)
                ?? members.map { text($0.value) }.filter { !$0.isEmpty }.joined(separator: ",")
        }
    }
}
