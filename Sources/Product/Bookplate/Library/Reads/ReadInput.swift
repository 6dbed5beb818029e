import Basics
import BookSources
import GraphQL
import Postgres
import Requests

/// A read to add to a book: the input type `ReadInput`.
struct ReadInput {
    let id: UUID
    private let isIDChosen: Bool
    /// Nil if the day is not known, or if the read starts today.
    let startedOn: PartialDate?
    private let startsToday: Bool
    let finishedOn: PartialDate?
    private let endsToday: Bool
    let outcome: ReadOutcome
    private let format: String?
    private let lengthSeconds: Int32?
    private let note: String?

    /// - Throws: `.badUserInput` with the name of the field.
    init(_ input: InputObject) throws(BookplateError) {
        id = try input.newID()
        isIDChosen = input.text("id") != nil
        startedOn = try input.date("startedOn")
        finishedOn = try input.date("finishedOn")
        outcome =
            input.text("outcome").flatMap(ReadOutcome.init(rawValue:))
            ?? (finishedOn == nil ? .reading : .finished)
        startsToday = outcome == .reading && !input.isGiven("startedOn")
        endsToday = false
        format = input.text("format")
        lengthSeconds = try input.length()
        note = try input.note()
        if outcome == .reading, finishedOn != nil { throw Self.openWithEnd }
        if let startedOn, let finishedOn, finishedOn.isBefore(startedOn) {
            throw Self.datesReversed
        }
    }

    /// Creates the read that follows from the status of a new book. It starts today if the outcome is READING, and otherwise ends
    /// today.
    init(outcome: ReadOutcome) {
        id = .version7()
        isIDChosen = false
        startedOn = nil
        startsToday = outcome == .reading
        finishedOn = nil
        endsToday = outcome != .reading
        self.outcome = outcome
        format = nil
        lengthSeconds = nil
        note = nil
    }

    static let openWithEnd = BookplateError.badUserInput(
        field: "finishedOn",
        .init(.openReadWithEnd)
    )
    static let datesReversed = BookplateError.badUserInput(
        field: "finishedOn", .init(.datesReversed))

    /// The read as an element of the JSON parameter of `add_read` and `BookCreation`.
    var json: Value {
        var members: [Value.Member] = [
            .init("id", .string(id.description)), .init("isIDChosen", .boolean(isIDChosen)),
            .init("outcome", .string(outcome.rawValue)),
        ]
        if startsToday {
            members.append(.init("startsToday", .boolean(true)))
        } else {
            members.append(.init("startedOn", startedOn.map { .string($0.text) } ?? .null))
        }
        if endsToday { members.append(.init("endsToday", .boolean(true))) }
        if let finishedOn { members.append(.init("finishedOn", .string(finishedOn.text))) }
        if let format { members.append(.init("format", .string(format))) }
        if let lengthSeconds {
            members.append(.init("lengthSeconds", .int(Int(lengthSeconds))))
        }
        if let note { members.append(.init("note", .string(note))) }
        return .object(members)
    }

    /// The key of the order of reads: the latest read of a book has the greatest one. The tilde of an open read sorts after all
    /// dates.
    fileprivate var sortedOn: String {
        outcome == .reading || endsToday ? "~" : finishedOn?.text ?? startedOn?.text ?? ""
    }
}

extension [ReadInput] {
    /// The maximum number of reads in one request.
    private static var inputMax: Int { 50 }

    /// Returns the reads of a new book, and the status that follows from them.
    ///
    /// - Parameter status: The status of the input. WANT_TO_READ is its default, so the status then follows from the latest read.
    /// - Throws: `.badUserInput` if the reads contradict each other or the status.
    static func ofNewBook(
        _ inputs: [Value]?, status: ReadingStatus
    ) throws(BookplateError) -> (reads: [ReadInput], status: ReadingStatus) {
        let inputs = inputs ?? []
        guard inputs.count <= inputMax else {
            throw .badUserInput(
                field: "reads", .init(.tooMany, max: inputMax))
        }
        var reads: [ReadInput] = []
        for input in inputs { reads.append(try ReadInput(InputObject(input))) }
        guard Set(reads.map(\.id)).count == reads.count else {
            throw .badUserInput(field: "id", .init(.duplicate))
        }
        let openCount = reads.count { $0.outcome == .reading }
        guard openCount <= 1 else {
            throw .badUserInput(
                field: "reads",
                .init(.severalOpenReads))
        }
        switch status {
        case .wantToRead:
            guard let latest = reads.max(by: { $0.sortedOn < $1.sortedOn }) else { break }
            return (reads, latest.outcome.status)
        case .reading:
            if openCount == 0 { reads.append(ReadInput(outcome: .reading)) }
        case .read:
            if reads.isEmpty { reads.append(ReadInput(outcome: .finished)) }
            fallthrough
        case .didNotFinish:
            guard openCount == 0 else {
                throw .badUserInput(
                    field: "status",
                    .init(.statusContradictsReads)
                )
            }
        case .paused: break
        }
        return (reads, status)
    }
}

extension InputObject {
    /// Returns the field `lengthSeconds`; nil if it is absent or null.
    func length() throws(BookplateError) -> Int32? {
        guard let value = self["lengthSeconds"], !value.isNull else { return nil }
        guard let length = value.int.flatMap({ Int32(exactly: $0) }), length > 0 else {
            throw .badUserInput(
                field: "lengthSeconds", .init(.tooSmall, min: 1))
        }
        return length
    }

    /// Returns the field `note` of a read or an entry; nil if it is absent, null, or empty.
    func note() throws(BookplateError) -> String? {
        try TextInput.optional(text("note"), field: "note", charactersMax: Read.noteCharactersMax)
    }
}
