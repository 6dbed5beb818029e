import Foundation
import GRDB

/// The rules of reads, status, and progress: docs/reading.md.
extension LocalEffect {
    func startRead() throws {
        guard try state.find(Book.self, write.target) != nil,
            let read = try saveRead(.object(write.input), of: write.target)
        else { return }
        try updateBook(of: read, from: nil)
    }

    /// Stores a read of an input. Returns nil if it exists already, or if the server will refuse it because another read is open.
    @discardableResult
    func saveRead(_ input: JSON, of book: String) throws -> Read? {
        guard let id = input["id"]?.string, try state.find(Read.self, id) == nil else { return nil }
        let finishedOn = input["finishedOn"]?.string.map(PartialDate.init(rawValue:))
        let outcome =
            input["outcome"]?.string.map(ReadOutcome.init(rawValue:))
            ?? (finishedOn == nil ? .reading : .finished)
        guard try outcome != .reading || latestRead(of: book)?.outcome != .reading else {
            return nil
        }
        let read = Read(
            id: id, book: Reference(id: book),
            startedOn: input["startedOn"]?.string.map(PartialDate.init(rawValue:)),
            finishedOn: finishedOn, outcome: outcome,
            format: input["format"]?.string.map(ReadFormat.init(rawValue:)),
            lengthSeconds: input["lengthSeconds"]?.int, note: input["note"]?.string,
            createdAt: write.madeAt, updatedAt: write.madeAt)
        try state.save(read)
        return read
    }

    func updateRead() throws {
        guard let kept = try state.find(Read.self, write.target) else { return }
        var read = kept
        if let outcome = write.input["outcome"]?.string {
            read.outcome = ReadOutcome(rawValue: outcome)
        }
        set(&read.startedOn, "startedOn")
        if read.outcome == .reading { read.finishedOn = nil }
        set(&read.finishedOn, "finishedOn")
        set(&read.format, "format")
        set(&read.lengthSeconds, "lengthSeconds")
        set(&read.note, "note")
        guard read != kept else { return }
        read.updatedAt = write.madeAt
        try state.save(read)
        try updateBook(of: read, from: kept.outcome)
        if read.lengthSeconds != kept.lengthSeconds { try updatePositions(in: read.book.id) }
    }

    func deleteRead() throws {
        guard let read = try state.find(Read.self, write.target) else { return }
        try state.deleteRead(read.id)
        guard read.outcome == .reading else { return }
        let latest = try latestRead(of: read.book.id)
        try change(Book.self, read.book.id) { book in
            book.currentPage = nil
            if [.reading, .paused].contains(book.status) {
                book.status = latest?.outcome.status ?? .wantToRead
            }
            book.updatedAt = write.madeAt
        }
    }

    /// Sets the status of the book after a change of a read, and its page.
    private func updateBook(of read: Read, from old: ReadOutcome?) throws {
        let isLatest = try latestRead(of: read.book.id)?.id == read.id
        let isOnlyRead =
            try Int.fetchOne(
                state.db, sql: "SELECT count(*) FROM read WHERE bookID = ?",
                arguments: [read.book.id]) == 1
        try change(Book.self, read.book.id) { book in
            guard read.outcome != old, isLatest || old == .reading else { return }
            book.status = read.outcome.status
            // A book that is read again starts without a page.
            if old == nil, read.outcome == .reading, !isOnlyRead { book.currentPage = nil }
            book.updatedAt = write.madeAt
        }
        try updatePage(of: read.book.id, clears: false)
    }

    /// Sets the page of a book with an open read to that of the newest entry, or to nil if that page is not known.
    ///
    /// - Parameter clears: whether the book loses its page if the read has no entry.
    private func updatePage(of book: String, clears: Bool) throws {
        guard let read = try latestRead(of: book), read.outcome == .reading else { return }
        let sql = "SELECT * FROM progress WHERE readID = ? ORDER BY at DESC, id DESC LIMIT 1"
        let newest = try ProgressEntry.fetchOne(
            state.db.cachedStatement(sql: sql), arguments: [read.id])
        try change(Book.self, book) { book in
            if clears || newest != nil { book.currentPage = newest?.page }
        }
    }

    /// The open read, or the one with the latest last day.
    private func latestRead(of book: String) throws -> Read? {
        let sql = """
            SELECT * FROM read WHERE bookID = ? ORDER BY sortedOn DESC, createdAt DESC, id DESC LIMIT 1
            """
        return try Read.fetchOne(state.db.cachedStatement(sql: sql), arguments: [book])
    }

    // MARK: Progress

    func logProgress() throws {
        guard try state.find(ProgressEntry.self, write.target) == nil,
            let id = write.input["readId"]?.string, let read = try state.find(Read.self, id)
        else { return }
        var entry = ProgressEntry(
            id: write.target, read: Reference(id: id),
            at: write.input["at"]?.string.map(Timestamp.init(rawValue:)) ?? write.madeAt,
            given: .page, note: write.input["note"]?.string, createdAt: write.madeAt,
            updatedAt: write.madeAt)
        try setPosition(of: &entry, in: read)
        try state.save(entry)
        try updatePage(of: read.book.id, clears: true)
    }

    func updateProgress() throws {
        guard var entry = try state.find(ProgressEntry.self, write.target),
            let read = try state.find(Read.self, entry.read.id)
        else { return }
        if let at = write.input["at"]?.string { entry.at = Timestamp(rawValue: at) }
        set(&entry.note, "note")
        try setPosition(of: &entry, in: read)
        entry.updatedAt = write.madeAt
        try state.save(entry)
        try updatePage(of: read.book.id, clears: true)
    }

    func deleteProgress() throws {
        guard let entry = try state.find(ProgressEntry.self, write.target) else { return }
        try state.delete(ProgressEntry.self, entry.id)
        guard let read = try state.find(Read.self, entry.read.id) else { return }
        try updatePage(of: read.book.id, clears: true)
    }

    /// Sets the position that the input gives, and the two that follow from the length of the book.
    private func setPosition(of entry: inout ProgressEntry, in read: Read) throws {
        guard let position = Position(write.input) else { return }
        try set(position, of: &entry, in: read)
    }

    private func set(_ position: Position, of entry: inout ProgressEntry, in read: Read) throws {
        let pageCount = try state.find(Book.self, read.book.id)?.pageCount
        entry.given = position.kind
        (entry.page, entry.percent, entry.seconds) = position.values(
            pageCount: pageCount, lengthSeconds: read.lengthSeconds)
    }

    /// Derives the positions in a book again after a change of its length. The forms that the reader gave stay.
    func updatePositions(in book: String) throws {
        for read in try Read.filter(Column("bookID") == book).fetchAll(state.db) {
            for old in try ProgressEntry.filter(Column("readID") == read.id).fetchAll(state.db) {
                var entry = old
                let given = Position(
                    old.given, page: old.page, percent: old.percent, seconds: old.seconds)
                if let given { try set(given, of: &entry, in: read) }
                if entry != old { try state.save(entry) }
            }
        }
        for old in try Note.filter(Column("bookID") == book).fetchAll(state.db) {
            var note = old
            let given = Position(
                old.positionKind, page: old.page, percent: old.percent, seconds: old.seconds)
            if let given { try set(given, of: &note) }
            if note != old { try state.save(note) }
        }
        try updatePage(of: book, clears: false)
    }
}

extension ReadOutcome {
    /// The status of a book whose latest read has this outcome.
    var status: ReadingStatus {
        self == .finished ? .read : ReadingStatus(rawValue: rawValue)
    }
}
