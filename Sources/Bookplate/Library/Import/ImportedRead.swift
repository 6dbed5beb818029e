import GraphQL
import Postgres

/// A read of a book to import.
struct ImportedRead: Equatable {
    var id: UUID?
    var startedOn: PartialDate?
    var finishedOn: PartialDate?
    var outcome: String
    var format: String?
    var lengthSeconds: Int?
    var note: String?
    var createdAt: Instant?
    var updatedAt: Instant?

    /// The read as an element of the parameter of the SQL function `import_reads`, without its book.
    var json: Value {
        var members: [Value.Member] = [.init("outcome", .string(outcome))]
        func add(_ name: String, _ value: Value?) {
            if let value { members.append(.init(name, value)) }
        }
        add("id", id.map { .string($0.description) })
        add("startedOn", startedOn.map { .string($0.text) })
        add("finishedOn", finishedOn.map { .string($0.text) })
        add("format", format.map { .string($0) })
        add("lengthSeconds", lengthSeconds.map { .int($0) })
        add("note", note.map { .string($0) })
        add("createdAt", createdAt.map { .string($0.preciseText) })
        add("updatedAt", updatedAt.map { .string($0.preciseText) })
        return .object(members)
    }
}

extension ImportedBook {
    /// The reads that the status and the dates stand for, in a file that has no reads.
    ///
    /// A book that is READING and has an end was read before.
    var derivedReads: [ImportedRead] {
        let started = startedAt.flatMap { PartialDate(String($0.text.prefix(10))) }
        let finished = finishedAt.flatMap { PartialDate(String($0.text.prefix(10))) }
        func read(_ outcome: String, _ start: PartialDate?, _ end: PartialDate?) -> ImportedRead {
            var read = ImportedRead(outcome: outcome)
            // The id is the same each time, so that a second import finds the read.
            read.id = .derived(from: "read", id.description, outcome, end?.text ?? "")
            read.startedOn = start
            read.finishedOn = end
            return read
        }
        switch status {
        case "READ":
            let isReversed = started.flatMap { start in finished?.isBefore(start) } ?? false
            return [read("FINISHED", isReversed ? nil : started, finished)]
        case "DID_NOT_FINISH":
            return (finished.map { [read("FINISHED", nil, $0)] } ?? [])
                + [read("DID_NOT_FINISH", started, nil)]
        default:
            let isOpen = status == "READING" || (started != nil && finished == nil)
            return (finished.map { [read("FINISHED", nil, $0)] } ?? [])
                + (isOpen ? [read("READING", started, nil)] : [])
        }
    }
}

/// A progress entry to import.
struct ImportedProgress: Equatable {
    var id: UUID
    var readID: UUID
    var at: Instant
    var page: Int?
    var percent: Double?
    var seconds: Int?
    var note: String?
    var createdAt: Instant?
    var updatedAt: Instant?

    /// The entry as an element of the parameter of the SQL function `import_progress`.
    var json: Value {
        var members: [Value.Member] = [
            .init("id", .string(id.description)), .init("readId", .string(readID.description)),
            .init("at", .string(at.preciseText)),
        ]
        func add(_ name: String, _ value: Value?) {
            if let value { members.append(.init(name, value)) }
        }
        add("page", page.map { .int($0) })
        add("percent", percent.map { .float($0) })
        add("seconds", seconds.map { .int($0) })
        add("note", note.map { .string($0) })
        add("createdAt", createdAt.map { .string($0.preciseText) })
        add("updatedAt", updatedAt.map { .string($0.preciseText) })
        return .object(members)
    }
}
