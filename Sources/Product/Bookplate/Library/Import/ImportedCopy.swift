import Basics
import GraphQL
import Requests

/// A copy of a book to import.
package struct ImportedCopy: Equatable, Sendable {
    /// A loan of the copy, which has ended if it has a day of return.
    struct Loan: Equatable, Sendable {
        var id: UUID
        var borrower: String
        var lentOn: PartialDate
        var dueOn: PartialDate?
        var returnedOn: PartialDate?

        fileprivate var json: Value {
            .object([
                .init("id", .string(id.description)), .init("borrower", .string(borrower)),
                .init("lentOn", .string(lentOn.text)), .init("dueOn", .text(dueOn?.text)),
                .init("returnedOn", .text(returnedOn?.text)),
            ])
        }
    }

    /// Nil for a copy that the file only counts.
    var id: UUID?
    var format: String?
    var place: String?
    var note: String?
    var loan: Loan?
    var pastLoans: [Loan] = []
    var createdAt: Instant?
    var updatedAt: Instant?

    /// The copy as an element of the member `copies` of a record of the SQL function `import_copies`.
    var json: Value {
        var members: [Value.Member] = []
        func add(_ name: String, _ value: Value?) {
            if let value { members.append(.init(name, value)) }
        }
        add("id", id.map { .string($0.description) })
        add("format", format.map { .string($0) })
        add("place", place.map { .string($0) })
        add("note", note.map { .string($0) })
        add("loan", loan?.json)
        add("pastLoans", .list(pastLoans.map(\.json)))
        add("createdAt", createdAt.map { .string($0.preciseText) })
        add("updatedAt", updatedAt.map { .string($0.preciseText) })
        return .object(members)
    }
}

extension ImportedBook {
    /// Sets the copies of a book from a file that only counts them.
    mutating func setCopies(count: Int32?) {
        copies = Array(
            repeating: ImportedCopy(), count: min(Int(count ?? 0), BookCopy.ofBookMax))
    }
}
