import GRDB

extension Library {
    /// The notes of the library.
    public var notes: Notes { Notes(library: self) }

    /// The reading goals of the library.
    public var goals: Goals { Goals(library: self) }
}

/// The notes of a library.
public struct Notes: Sendable {
    let library: Library

    /// The notes of a book in the order in which they were made, now and after each change.
    public func of(book id: String) -> AsyncValueObservation<[Note]> {
        library.values { db in
            try Note.filter(Column("bookID") == id).order(Column("createdAt"), Column("id"))
                .fetchAll(db)
        }
    }

    /// Creates a note with the words of the book (`text`), the reader's own words (`comment`), or both. Returns its id.
    @discardableResult
    public func create(
        _ book: String, text: String? = nil, comment: String? = nil, chapter: String? = nil,
        color: LabelColor? = nil, at position: Position? = nil
    ) throws -> String {
        let id = library.environment.makeID()
        let time = library.environment.timestamp
        var input = position?.input ?? [:]
        input["id"] = .string(id)
        input["bookId"] = .string(book)
        input["text"] = text.map { .string($0.trimmed) }
        input["comment"] = comment.map { .string($0.trimmed) }
        input["chapter"] = chapter.map(JSON.string)
        input["color"] = color.map { .string($0.rawValue) }
        input["createdAt"] = .string(time.rawValue)
        try library.perform(Write(.createNote, id, input, needs: [book], creates: [id], at: time))
        return id
    }

    /// Changes the words, the chapter, or the color of a note. Only the properties that differ afterwards are sent.
    public func update(_ id: String, _ change: (inout Note) -> Void) throws {
        try library.perform { db in
            let old = try find(id, db)
            var new = old
            change(&new)
            let input = new.facts.filter { old.facts[$0.key] != $0.value }
            return input.isEmpty ? [] : [write(.updateNote, id, input, of: old)]
        }
    }

    /// Sets the position of a note.
    public func move(_ id: String, to position: Position) throws {
        try library.perform { db in
            [write(.updateNote, id, position.input, of: try find(id, db))]
        }
    }

    /// Deletes a note.
    public func delete(_ id: String) throws {
        try library.perform { db in [write(.deleteNote, id, [:], of: try find(id, db))] }
    }

    private func write(
        _ operation: Operation, _ id: String, _ input: [String: JSON], of note: Note
    ) -> Write {
        Write(operation, id, input, needs: [note.book.id], at: library.environment.timestamp)
    }

    private func find(_ id: String, _ db: Database) throws -> Note {
        guard let note = try LibraryState(db: db).find(Note.self, id) else {
            throw BookplateError.notInLibrary(id: id)
        }
        return note
    }
}

extension Note {
    /// The values that `Notes.update` can change, by the names of `UpdateNoteInput`.
    fileprivate var facts: [String: JSON] {
        [
            "text": JSON(text), "comment": JSON(comment), "chapter": JSON(chapter),
            "color": JSON(color?.rawValue),
        ]
    }
}

/// The reading goals of a library.
public struct Goals: Sendable {
    let library: Library

    /// The goals, the latest year first, now and after each change.
    public func all() -> AsyncValueObservation<[ReadingGoal]> {
        library.values { try ReadingGoal.order(Column("year").desc, Column("unit")).fetchAll($0) }
    }

    /// Sets the goal of a year, or changes its target.
    public func set(_ target: Int, _ unit: GoalUnit = .books, in year: Int) throws {
        let id = library.environment.makeID()
        try library.perform { db in
            let existing = try ReadingGoal.filter(Column("year") == year && Column("unit") == unit)
                .fetchOne(db)
            let id = existing?.id ?? id
            let input: [String: JSON] = [
                "id": .string(id), "year": JSON(year), "unit": .string(unit.rawValue),
                "target": JSON(target),
            ]
            // One goal at a time: another device may have one of the same year with another id.
            return [
                Write(
                    .setReadingGoal, id, input, related: ["goals"],
                    at: library.environment.timestamp)
            ]
        }
    }

    /// Deletes a goal.
    public func delete(_ id: String) throws {
        try library.perform(
            Write(.deleteReadingGoal, id, related: ["goals"], at: library.environment.timestamp))
    }
}
