import BookSources
import GraphQL
import GraphQLPostgres
import Postgres
import Requests

/// A person in a role, as an author of a book or of a card.
///
/// The id is computed from the role and the folded name, so two spellings of a name have the same id. An author is not a node,
/// because the names in readers' own books are stored only with these books: `Query.node` could not find them.
enum Author {
    static let ofBook = AuthorsOfRow(table: "b")
    static let ofCard = AuthorsOfRow(table: "e")

    static let fields: [String: FieldResolver] = [
        "id": .property, "personId": .property, "name": .property, "role": .property,
        "bio": .load(AuthorBio()),
    ]

    /// Returns the id of a person in a role. It differs between roles in the last byte, and is that of the person for `AUTHOR`.
    static func id(of person: UUID, in role: String) -> UUID {
        let number = AuthorRole(rawValue: role)?.number ?? 0
        return UUID(high: person.high, low: person.low ^ number)
    }
}

/// `Book.authors`, `FeedCard.authors`, and `DeletedBook.authors`: the names and roles are columns of the parent's row.
struct AuthorsOfRow: RowLoader {
    private let names: Column
    private let roles: Column
    /// The persons' ids in the table `authors`.
    private let persons: Column

    init(table: String) {
        self.init(
            names: Column("\(table).authors", .texts),
            roles: Column("\(table).author_roles", .texts),
            persons: Column("\(table).author_ids", .uuids))
    }

    init(names: Column, roles: Column, persons: Column) {
        self.names = names
        self.roles = roles
        self.persons = persons
    }

    var parentColumns: [Column] { [names, roles, persons] }

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(columns: self, selection: field.selections[0])
    }

    private struct Prepared: RequestLoad {
        let columns: AuthorsOfRow
        let selection: PlannedSelection

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            guard let parents = parents as? RowBatch else { return .needsParents }
            var slots: [Slot] = []
            var authors: [AuthorBatch.Entry] = []
            for parent in 0..<parents.count {
                let found = columns.authors(of: parent, in: parents)
                slots.append(
                    .list(
                        start: Int32(parents.count + authors.count), count: Int32(found.count)))
                authors += found
            }
            slots += authors.indices.map { .object(group: 0, index: Int32($0)) }
            return .ready(
                Children(slots: slots, groups: [.init(AuthorBatch(authors, selection))]))
        }
    }

    private func authors(of parent: Int, in rows: RowBatch) -> [AuthorBatch.Entry] {
        func texts(_ column: Column) -> [String] {
            elements(column) { String(decoding: $0, as: UTF8.self) }
        }
        func elements<Element>(
            _ column: Column, _ decode: (UnsafeRawBufferPointer) -> Element?
        ) -> [Element] {
            var elements: [Element] = []
            _ = rows.cell(column, of: parent)?.forEachArrayElement { element in
                guard let value = element.flatMap(decode) else { return false }
                elements.append(value)
                return true
            }
            return elements
        }
        let roles = texts(roles)
        return zip(texts(names), elements(persons) { UUID(bytes: $0) }).enumerated().map {
            index, author in
            AuthorBatch.Entry(
                person: author.1, name: author.0,
                role: index < roles.count ? roles[index] : AuthorRole.author.rawValue)
        }
    }
}

/// The authors of all parents of a level.
final class AuthorBatch: ObjectBatch {
    struct Entry {
        let person: UUID
        let name: String
        let role: String
    }

    let authors: [Entry]
    private let selection: PlannedSelection

    init(_ authors: [Entry], _ selection: PlannedSelection) {
        self.authors = authors
        self.selection = selection
    }

    var count: Int { authors.count }

    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
        let author = authors[object]
        switch selection.fields[field].selected.name {
        case "id": writer.write(Author.id(of: author.person, in: author.role).description)
        case "personId": writer.write(author.person.description)
        case "name": writer.write(author.name)
        case "role": writer.write(author.role)
        default: return .null
        }
        return .value
    }
}

/// `Author.bio`: the biographies of all authors of a level, with one statement.
private struct AuthorBio: FieldLoader {
    func prepare(_ field: SelectedField) -> any PreparedLoad { Prepared() }

    private static let bios = TypedStatement<Row>(
        "SELECT id, bio FROM authors WHERE id = ANY($1) AND bio IS NOT NULL")

    private struct Row: RowDecodable {
        let person: UUID
        let bio: String

        init?(_ row: inout RowReader) {
            guard let person = row.uuid(), let bio = row.text() else { return nil }
            self.person = person
            self.bio = bio
        }
    }

    private struct Prepared: RequestLoad {
        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            let persons = (parents as? AuthorBatch)?.authors.map(\.person) ?? []
            guard !persons.isEmpty else { return .ready(.null(parents.count)) }
            var parameters = Parameters()
            parameters.append(uuids: Set(persons).sorted())
            let pending = request.query(AuthorBio.bios.statement, parameters)
            return .afterFlush { parents in
                request.children(of: parents) { () throws(BookplateError) in
                    var values: [Value] = []
                    var indices: [UUID: Int32] = [:]
                    for row in try pending.rows().decode(Row.self) {
                        indices[row.person] = Int32(values.count)
                        values.append(.string(row.bio))
                    }
                    let slots = persons.map { person in
                        indices[person].map { Slot.object(group: 0, index: $0) } ?? .null
                    }
                    return Children(slots: slots, groups: [.init(LeafBatch(values))])
                }
            }
        }
    }
}
