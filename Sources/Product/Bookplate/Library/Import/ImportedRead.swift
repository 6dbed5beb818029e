import Basics
import BookSources
import GraphQL
import Postgres
import Requests

/// One reading of a book to import.
package struct ImportedRead: Equatable, Sendable {
    package enum Format: String, Sendable {
        case print = "PRINT"
        case ebook = "EBOOK"
        case audio = "AUDIO"

        /// Returns the format of a binding such as `Paperback`, `Kindle Edition`, or `Audible Audio`; nil if it is unknown.
        init?(binding: String) {
            let binding = binding.lowercased()
            let known: [(Format, [String])] = [
                (.audio, ["audio", "audible", "mp3"]),
                (.ebook, ["kindle", "ebook", "e-book", "nook", "digital", "epub", "mobi", "azw"]),
                (
                    .print,
                    [
                        "paperback", "hardcover", "hardback", "binding", "mass market", "print",
                        "book",
                    ]
                ),
            ]
            let format = known.first { _, words in words.contains { binding.contains($0) } }
            guard let format else { return nil }
            self = format.0
        }
    }

    package var id: UUID?
    package var startedOn: PartialDate?
    package var finishedOn: PartialDate?
    package var outcome: ReadOutcome
    var format: Format?
    /// The length of an audiobook.
    var lengthSeconds: Int32?
    var note: String?
    var createdAt: Instant?
    var updatedAt: Instant?

    /// The read as an element of the parameter of the SQL function `import_reads`, without its book.
    var json: Value {
        var members: [Value.Member] = [.init("outcome", .string(outcome.rawValue))]
        func add(_ name: String, _ value: Value?) {
            if let value { members.append(.init(name, value)) }
        }
        add("id", id.map { .string($0.description) })
        add("startedOn", startedOn.map { .string($0.text) })
        add("finishedOn", finishedOn.map { .string($0.text) })
        add("format", format.map { .string($0.rawValue) })
        add("lengthSeconds", lengthSeconds.map { .int(Int($0)) })
        add("note", note.map { .string($0) })
        add("createdAt", createdAt.map { .string($0.preciseText) })
        add("updatedAt", updatedAt.map { .string($0.preciseText) })
        return .object(members)
    }

    /// The maximum number of reads of a book.
    static let countMax = Read.ofBookMax
    static let noteCharactersMax = Read.noteCharactersMax
}

extension ImportedBook {
    /// Completes the reads after the status is known: the last read has the outcome that the status implies, and a read book
    /// has been read at least once. Sets the dates of the book to those of the last read.
    ///
    /// - Parameter count: How often the book has been read according to the source.
    mutating func finishReads(count: Int32? = nil) {
        reads.sort { first, second in
            guard let end = second.finishedOn ?? second.startedOn else { return false }
            return (first.finishedOn ?? first.startedOn)?.isBefore(end) ?? true
        }
        let hasOpenRead = reads.contains { $0.outcome == .reading }
        switch status {
        case .read:
            // A read without an end has ended on an unknown day.
            for index in reads.indices { reads[index].outcome = .finished }
        case .didNotFinish:
            for index in reads.indices
            where reads[index].outcome == .reading || index == reads.indices.last {
                reads[index].outcome = .didNotFinish
            }
        case .wantToRead where hasOpenRead: status = .reading
        case .reading where !hasOpenRead: reads.append(ImportedRead(outcome: .reading))
        default: break
        }
        let finishedCount = reads.count { $0.outcome == .finished }
        // Sources disagree on whether a reading that goes on, or was given up, counts.
        readCount = status == .read ? max(Int(count ?? 0), finishedCount, 1) : finishedCount
        setEdition()
        startedAt = reads.last?.startedOn?.start
        finishedAt = status == .read ? reads.last?.finishedOn?.start : nil
    }

    /// Adds reads without dates until there are `readCount` finished ones.
    mutating func addUndatedReads() {
        let missing =
            min(readCount, ImportedRead.countMax) - reads.count { $0.outcome == .finished }
        guard missing > 0 else { return }
        reads += Array(repeating: ImportedRead(outcome: .finished), count: missing)
        setEdition()
    }

    /// Sets the format of reads that have none, and the length of those of an audiobook.
    private mutating func setEdition() {
        for index in reads.indices {
            reads[index].format = reads[index].format ?? format
            if reads[index].format == .audio {
                reads[index].lengthSeconds = reads[index].lengthSeconds ?? lengthSeconds
            }
        }
    }

    /// The format of the edition by its binding.
    var format: ImportedRead.Format? { binding.flatMap { ImportedRead.Format(binding: $0) } }
}
