import Foundation

@testable import BookplateClient

/// The reads, progress, and notes of the model: docs/reading.md.
extension ModelServer {
    func openRead(of book: String) -> Read? {
        reads.values.first { $0.book.id == book && $0.outcome == .reading }
    }

    private func latestRead(of book: String) -> Read? {
        func key(_ read: Read) -> [String] {
            let last =
                read.outcome == .reading
                ? "~" : read.finishedOn?.rawValue ?? read.startedOn?.rawValue ?? ""
            return [last, read.createdAt.rawValue, read.id]
        }
        return reads.values.filter { $0.book.id == book }.max {
            key($0).lexicographicallyPrecedes(key($1))
        }
    }

    func startRead(_ book: String, _ input: JSON) throws(ServerError) {
        guard books[book] != nil else { throw Self.notFound }
        let id = input["id"]?.string ?? ""
        guard reads[id] == nil else { return }
        try addRead(input, to: book)
        statusFollows(id, from: nil)
    }

    func addRead(_ input: JSON, to book: String) throws(ServerError) {
        let id = input["id"]?.string ?? ""
        guard !tombstones.contains(id) else { throw Self.notFound }
        let outcome = ReadOutcome(rawValue: input["outcome"]?.string ?? "READING")
        if outcome == .reading, let open = openRead(of: book) {
            throw ServerError("A read is open", code: .conflict, existingID: open.id)
        }
        create(id)
        reads[id] = Read(
            id: id, book: Reference(id: book),
            startedOn: input["startedOn"]?.string.map(PartialDate.init(rawValue:)),
            finishedOn: input["finishedOn"]?.string.map(PartialDate.init(rawValue:)),
            outcome: outcome,
            createdAt: now, updatedAt: now)
        record(Read.self, id)
    }

    func updateRead(_ id: String, _ input: JSON) throws(ServerError) {
        guard let old = reads[id] else { throw Self.notFound }
        var read = old
        if let outcome = input["outcome"]?.string { read.outcome = ReadOutcome(rawValue: outcome) }
        if let day = input["startedOn"] {
            read.startedOn = day.string.map(PartialDate.init(rawValue:))
        }
        if let day = input["finishedOn"] {
            read.finishedOn = day.string.map(PartialDate.init(rawValue:))
        }
        if let note = input["note"] { read.note = note.string }
        if read.outcome == .reading { read.finishedOn = nil }
        if read.outcome == .reading, old.outcome != .reading, let open = openRead(of: read.book.id)
        {
            throw ServerError("A read is open", code: .conflict, existingID: open.id)
        }
        guard read != old else { return }
        read.updatedAt = now
        reads[id] = read
        record(Read.self, id)
        statusFollows(id, from: old.outcome)
    }

    private func statusFollows(_ id: String, from old: ReadOutcome?) {
        guard let read = reads[id] else { return }
        let isLatest = latestRead(of: read.book.id)?.id == id
        let hasOthers = reads.values.contains { $0.book.id == read.book.id && $0.id != id }
        if read.outcome != old, isLatest || old == .reading {
            change(read.book.id) { book in
                book.status =
                    read.outcome == .finished
                    ? .read : ReadingStatus(rawValue: read.outcome.rawValue)
                if old == nil, read.outcome == .reading, hasOthers { book.currentPage = nil }
            }
        }
        pageFollows(read.book.id, clears: false)
    }

    func deleteRead(_ id: String) {
        guard let read = reads.removeValue(forKey: id) else { return }
        tombstones.insert(id)
        for entry in entries(of: id) { entries[entry.id] = nil }
        record(Read.self, id)
        guard read.outcome == .reading else { return }
        let latest = latestRead(of: read.book.id)
        change(read.book.id) { book in
            book.currentPage = nil
            guard book.status == .reading || book.status == .paused else { return }
            book.status =
                latest?.outcome == .finished ? .read : latest == nil ? .wantToRead : .didNotFinish
        }
    }

    private func pageFollows(_ book: String, clears: Bool) {
        guard let open = openRead(of: book) else { return }
        let newest = entries(of: open.id).first
        guard clears || newest != nil, newest?.page != books[book]?.currentPage else {
            return
        }
        change(book) { $0.currentPage = newest?.page }
    }

    // MARK: Progress

    func logProgress(_ input: JSON) throws(ServerError) {
        let (id, readID) = (input["id"]?.string ?? "", input["readId"]?.string ?? "")
        guard entries[id] == nil else { return }
        guard let read = reads[readID], !tombstones.contains(id) else { throw Self.notFound }
        let page = input["page"]?.int ?? 0
        if let pageCount = books[read.book.id]?.pageCount, page > pageCount {
            throw ServerError("The book has fewer pages", code: .badUserInput)
        }
        create(id)
        entries[id] = ProgressEntry(
            id: id, read: Reference(id: readID), at: Timestamp(rawValue: input["at"]?.string ?? ""),
            page: page, given: .page, createdAt: now, updatedAt: now)
        record(ProgressEntry.self, id)
        pageFollows(read.book.id, clears: true)
    }

    func updateProgress(_ id: String, _ input: JSON) throws(ServerError) {
        guard var entry = entries[id], let read = reads[entry.read.id] else { throw Self.notFound }
        let page = input["page"]?.int ?? 0
        if let pageCount = books[read.book.id]?.pageCount, page > pageCount {
            throw ServerError("The book has fewer pages", code: .badUserInput)
        }
        entry.page = page
        entry.updatedAt = now
        entries[id] = entry
        record(ProgressEntry.self, id)
        pageFollows(read.book.id, clears: true)
    }

    func deleteProgress(_ id: String) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        tombstones.insert(id)
        record(ProgressEntry.self, id)
        if let read = reads[entry.read.id] { pageFollows(read.book.id, clears: true) }
    }

    // MARK: Notes

    func createNote(_ input: JSON) throws(ServerError) {
        let (id, book) = (input["id"]?.string ?? "", input["bookId"]?.string ?? "")
        guard notes[id] == nil else { return }
        guard books[book] != nil, !tombstones.contains(id) else { throw Self.notFound }
        create(id)
        notes[id] = Note(
            id: id, book: Reference(id: book), text: input["text"]?.string,
            createdAt: Timestamp(rawValue: input["createdAt"]?.string ?? ""), updatedAt: now)
        record(Note.self, id)
    }

    func updateNote(_ id: String, _ input: JSON) throws(ServerError) {
        guard var note = notes[id] else { throw Self.notFound }
        if let text = input["text"] { note.text = text.string }
        if let comment = input["comment"] { note.comment = comment.string }
        note.updatedAt = now
        notes[id] = note
        record(Note.self, id)
    }
}
