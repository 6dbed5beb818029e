import GraphQL

/// One reading of a book to import.
struct ImportedRead: Hashable, Sendable {
    enum Outcome: String, Sendable {
        case reading = "READING"
        case finished = "FINISHED"
        case didNotFinish = "DID_NOT_FINISH"
    }

    var startedOn: ImportedDate?
    var finishedOn: ImportedDate?
    var outcome: Outcome

    /// The read as an element of the member `reads` of a book in the parameter of `import_records`.
    var json: Value {
        .object([
            .init("startedOn", startedOn.map { .string($0.text) } ?? .null),
            .init("finishedOn", finishedOn.map { .string($0.text) } ?? .null),
            .init("outcome", .string(outcome.rawValue)),
        ])
    }

    /// The maximum number of reads of a book.
    static let countMax = 1000
}
