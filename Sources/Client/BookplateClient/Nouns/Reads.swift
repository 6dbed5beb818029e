import GRDB

extension Library {
    /// The reads of the library, and their progress.
    public var reads: Reads { Reads(library: self) }
}

/// The reads of a library, and their progress.
public struct Reads: Sendable {
    let library: Library

    /// The reads of a book, now and after each change: the open one, then the others, the latest first.
    public func of(book id: String) -> AsyncValueObservation<[Read]> {
        library.values { db in
            try Read.filter(Column("bookID") == id)
                .order(Column("sortedOn").desc, Column("createdAt").desc, Column("id").desc)
                .fetchAll(db)
        }
    }

    /// The progress of a read, now and after each change, the newest entry first.
    public func progress(of read: String) -> AsyncValueObservation<[ProgressEntry]> {
        library.values { db in
            try ProgressEntry.filter(Column("readID") == read)
                .order(Column("at").desc, Column("id").desc).fetchAll(db)
        }
    }

    /// Starts a read of a book, and returns its id. At most one read of a book is open.
    ///
    /// - Parameter day: the first day. Today by default.
    @discardableResult
    public func start(
        _ book: String, on day: PartialDate? = nil, format: ReadFormat? = nil,
        lengthSeconds: Int? = nil
    ) throws -> String {
        let id = library.environment.makeID()
        var input = openInput(id, on: day ?? library.environment.today)
        input["format"] = format.map { .string($0.rawValue) }
        input["lengthSeconds"] = lengthSeconds.map { JSON($0) }
        try library.perform { db in
            guard try Reads.open(of: book, db) == nil else {
                throw BookplateError.invalidInput("The book has an open read. Finish it first.")
            }
            return [starting(book, id, input)]
        }
        return id
    }

    /// Adds a read of the past, and returns its id.
    @discardableResult
    public func add(_ book: String, startedOn: PartialDate? = nil, finishedOn: PartialDate) throws
        -> String
    {
        let write = adding(to: book, startedOn: startedOn, finishedOn: finishedOn)
        try library.perform(write)
        return write.input["id"]?.string ?? ""
    }

    /// Corrects a read: `try reads.update(id) { $0.startedOn = "2026-01" }`. Only the properties that differ afterwards are sent.
    public func update(_ id: String, _ change: (inout Read) -> Void) throws {
        try library.perform { db in
            let old = try find(id, db)
            var new = old
            change(&new)
            let input = new.facts.filter { old.facts[$0.key] != $0.value }
            return input.isEmpty ? [] : [write(.updateRead, id, input, of: old.book.id)]
        }
    }

    /// Deletes a read with its progress.
    public func delete(_ id: String) throws {
        try library.perform { db in
            [write(.deleteRead, id, [:], of: try find(id, db).book.id)]
        }
    }

    // MARK: Progress

    /// Logs how far the reader is now, and returns the id of the entry.
    @discardableResult
    public func log(_ position: Position, in read: String, note: String? = nil) throws -> String {
        let id = library.environment.makeID()
        try library.perform { db in
            var input = position.input
            input["id"] = .string(id)
            input["readId"] = .string(read)
            input["at"] = .string(library.environment.timestamp.rawValue)
            input["note"] = note.map(JSON.string)
            return [
                Write(
                    .logProgress, id, input, related: [try find(read, db).book.id], needs: [read],
                    creates: [id], at: library.environment.timestamp)
            ]
        }
        return id
    }

    /// Corrects an entry. A later correction wins over an earlier one, on whichever device it was made.
    public func correct(_ entry: String, to position: Position) throws {
        try library.perform { db in
            var input = position.input
            input["changedAt"] = .string(library.environment.timestamp.rawValue)
            return [write(.updateProgress, entry, input, of: try book(ofEntry: entry, db))]
        }
    }

    /// Deletes an entry.
    public func deleteEntry(_ id: String) throws {
        try library.perform { db in
            [write(.deleteProgress, id, [:], of: try book(ofEntry: id, db))]
        }
    }

    private func book(ofEntry id: String, _ db: Database) throws -> String {
        guard let entry = try LibraryState(db: db).find(ProgressEntry.self, id) else {
            throw BookplateError.notInLibrary(id: id)
        }
        return try find(entry.read.id, db).book.id
    }

    private func find(_ id: String, _ db: Database) throws -> Read {
        guard let read = try LibraryState(db: db).find(Read.self, id) else {
            throw BookplateError.notInLibrary(id: id)
        }
        return read
    }
}

// MARK: Writes

extension Reads {
    static func open(of book: String, _ db: Database) throws -> Read? {
        let sql = "SELECT * FROM read WHERE bookID = ? AND outcome = 'READING'"
        return try Read.fetchOne(db.cachedStatement(sql: sql), arguments: [book])
    }

    /// The read of a new book with a status; nil if the status has none.
    func input(startingWith status: ReadingStatus, id: String) -> [String: JSON]? {
        switch status {
        case .reading: openInput(id, on: library.environment.today)
        case .read:
            [
                "id": .string(id), "outcome": "FINISHED",
                "finishedOn": .string(library.environment.today.rawValue),
            ]
        default: nil
        }
    }

    private func openInput(_ id: String, on day: PartialDate) -> [String: JSON] {
        ["id": .string(id), "outcome": "READING", "startedOn": .string(day.rawValue)]
    }

    func startUnlessOpen(_ book: String) throws {
        let id = library.environment.makeID()
        try library.perform { db in
            try Reads.open(of: book, db) == nil
                ? [starting(book, id, openInput(id, on: library.environment.today))]
                // The book is paused.
                : [
                    Write(
                        .updateBook, book, ["status": "READING"], at: library.environment.timestamp)
                ]
        }
    }

    private func starting(_ book: String, _ id: String, _ input: [String: JSON]) -> Write {
        Write(.startRead, book, input, creates: [id], at: library.environment.timestamp)
    }

    func adding(to book: String, startedOn: PartialDate?, finishedOn: PartialDate) -> Write {
        let id = library.environment.makeID()
        return starting(
            book, id,
            [
                "id": .string(id), "outcome": "FINISHED", "startedOn": JSON(startedOn?.rawValue),
                "finishedOn": .string(finishedOn.rawValue),
            ])
    }

    func finishing(_ read: Read, on day: PartialDate, _ outcome: ReadOutcome) -> Write {
        write(
            .finishRead, read.id,
            ["finishedOn": .string(day.rawValue), "outcome": .string(outcome.rawValue)],
            of: read.book.id)
    }

    private func write(
        _ operation: Operation, _ id: String, _ input: [String: JSON], of book: String
    ) -> Write {
        Write(operation, id, input, related: [book], at: library.environment.timestamp)
    }
}

extension Read {
    /// The values that `Reads.update` can change, by the names of `UpdateReadInput`.
    fileprivate var facts: [String: JSON] {
        [
            "startedOn": JSON(startedOn?.rawValue), "finishedOn": JSON(finishedOn?.rawValue),
            "outcome": .string(outcome.rawValue), "format": JSON(format?.rawValue),
            "lengthSeconds": JSON(lengthSeconds), "note": JSON(note),
        ]
    }
}
