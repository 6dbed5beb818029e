import BookSources
import GraphQL
import GraphQLPostgres
import Postgres
import Requests

/// A list of numbers by genre, month, or another key. It is a column of the parent's row with a JSON array of objects, whose
/// members are the fields; NULL is an empty list. The argument `first` limits it.
struct CountList: RowLoader {
    private let counts: Column

    init(_ counts: Column) { self.counts = counts }

    var parentColumns: [Column] { [counts] }

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(counts: counts, selection: field.selections[0])
    }

    private struct Prepared: RequestLoad {
        let counts: Column
        let selection: PlannedSelection

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            guard let parents = parents as? RowBatch else { return .needsParents }
            let first = arguments["first"]?.int ?? ReadingSummary.listMax
            guard (1...ReadingSummary.listMax).contains(first) else {
                throw .badUserInput(
                    field: "first", .init(.outOfRange, min: 1, max: ReadingSummary.listMax))
            }
            var slots: [Slot] = []
            var objects: [PlainObject] = []
            for parent in 0..<parents.count {
                let found = try counted(in: parents.cell(counts, of: parent)).prefix(first)
                slots.append(
                    .list(
                        start: Int32(parents.count + objects.count), count: Int32(found.count)))
                objects += found
            }
            slots += objects.indices.map { .object(group: 0, index: Int32($0)) }
            return .ready(
                Children(slots: slots, groups: [.init(PlainBatch(objects, selection))]))
        }

        private func counted(
            in cell: UnsafeRawBufferPointer?
        ) throws(BookplateError) -> [PlainObject] {
            guard let cell else { return [] }
            guard let list = (try? parseJSON(Array(cell)))?.list else { throw .internalError }
            return list.map { item in
                guard case .object(let members) = item else { return PlainObject() }
                return PlainObject(
                    leaves: Dictionary(
                        members.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 }))
            }
        }
    }
}

/// `AuthorCount.author`.
struct AuthorOfCount: FieldLoader {
    static let countFields: [String: FieldResolver] = [
        "author": .load(AuthorOfCount()), "readCount": .property,
    ]

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(selection: field.selections[0])
    }

    private struct Prepared: RequestLoad {
        let selection: PlannedSelection

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            var authors: [AuthorBatch.Entry] = []
            for parent in (parents as? PlainBatch)?.objects ?? [] {
                guard let person = parent.leaves["person"]?.string.flatMap({ UUID($0) }),
                    let name = parent.leaves["name"]?.string
                else { throw .internalError }
                authors.append(
                    .init(person: person, name: name, role: AuthorRole.author.rawValue))
            }
            return .ready(.each(of: AuthorBatch(authors, selection)))
        }
    }
}
