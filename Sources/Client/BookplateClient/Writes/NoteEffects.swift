import Foundation
import GRDB

extension LocalEffect {
    func createNote() throws {
        guard try state.find(Note.self, write.target) == nil,
            let book = write.input["bookId"]?.string, try state.find(Book.self, book) != nil
        else { return }
        var note = Note(
            id: write.target, book: Reference(id: book), createdAt: write.madeAt,
            updatedAt: write.madeAt)
        try setFields(of: &note)
        try state.save(note)
    }

    func updateNote() throws {
        try change(Note.self, write.target) { note in
            try setFields(of: &note)
            note.updatedAt = write.madeAt
        }
    }

    private func setFields(of note: inout Note) throws {
        set(&note.text, "text")
        set(&note.comment, "comment")
        set(&note.chapter, "chapter")
        set(&note.color, "color")
        if let position = Position(write.input) {
            try set(position, of: &note)
        } else if ["page", "percent", "seconds"].contains(where: { write.input[$0] == .null }) {
            (note.positionKind, note.page, note.percent, note.seconds) = (nil, nil, nil, nil)
        }
    }

    func set(_ position: Position, of note: inout Note) throws {
        let length = try Int.fetchOne(
            state.db,
            sql: """
                SELECT lengthSeconds FROM read WHERE bookID = ? AND lengthSeconds IS NOT NULL
                ORDER BY sortedOn DESC, createdAt DESC, id DESC LIMIT 1
                """, arguments: [note.book.id])
        let pageCount = try state.find(Book.self, note.book.id)?.pageCount
        note.positionKind = position.kind
        (note.page, note.percent, note.seconds) = position.values(
            pageCount: pageCount, lengthSeconds: length)
    }
}

/// A position in a book, as the reader gives it.
public enum Position: Hashable, Sendable {
    /// A page.
    case page(Int)
    /// A part of the book, from 0 to 100.
    case percent(Double)
    /// The seconds of an audiobook.
    case seconds(Int)

    init?(_ input: [String: JSON]) {
        if let page = input["page"]?.int {
            self = .page(page)
        } else if let percent = input["percent"]?.number {
            self = .percent(percent)
        } else if let seconds = input["seconds"]?.int {
            self = .seconds(seconds)
        } else {
            return nil
        }
    }

    /// The position among the three forms that the reader gave.
    init?(_ kind: ProgressPosition?, page: Int?, percent: Double?, seconds: Int?) {
        switch (kind, page, percent, seconds) {
        case (.page?, let page?, _, _): self = .page(page)
        case (.percent?, _, let percent?, _): self = .percent(percent)
        case (.seconds?, _, _, let seconds?): self = .seconds(seconds)
        default: return nil
        }
    }

    var kind: ProgressPosition {
        switch self {
        case .page: .page
        case .percent: .percent
        case .seconds: .seconds
        }
    }

    /// The member of an input.
    var input: [String: JSON] {
        switch self {
        case .page(let page): ["page": JSON(page)]
        case .percent(let percent): ["percent": JSON(percent)]
        case .seconds(let seconds): ["seconds": JSON(seconds)]
        }
    }

    /// The three forms of the position. Forms that follow from an unknown length are nil.
    func values(pageCount: Int?, lengthSeconds: Int?) -> (Int?, Double?, Int?) {
        let fraction: Double? =
            switch self {
            case .page(let page):
                pageCount.flatMap { $0 > 0 ? min(Double(page) / Double($0), 1) : nil }
            case .percent(let percent): percent / 100
            case .seconds(let seconds):
                lengthSeconds.flatMap { $0 > 0 ? min(Double(seconds) / Double($0), 1) : nil }
            }
        var (page, percent, seconds) = (
            fraction.flatMap { part in pageCount.map { Self.round(part * Double($0)) } },
            fraction.map { 100 * $0 },
            fraction.flatMap { part in lengthSeconds.map { Self.round(part * Double($0)) } }
        )
        switch self {
        case .page(let given): page = given
        case .percent(let given): percent = given
        case .seconds(let given): seconds = given
        }
        return (page, percent, seconds)
    }

    /// Rounds as PostgreSQL does.
    private static func round(_ value: Double) -> Int { Int(value.rounded(.toNearestOrEven)) }
}
