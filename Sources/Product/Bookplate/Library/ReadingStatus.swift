/// How far the reader is with a book: the enum of the same name in the schema, and the type `reading_status` of the database.
package enum ReadingStatus: String, CaseIterable, Sendable {
    case wantToRead = "WANT_TO_READ"
    case reading = "READING"
    case read = "READ"
    case paused = "PAUSED"
    case didNotFinish = "DID_NOT_FINISH"
}

/// How a read of a book has ended: the enum of the same name in the schema.
package enum ReadOutcome: String, CaseIterable, Sendable {
    /// The read is open.
    case reading = "READING"
    case finished = "FINISHED"
    case didNotFinish = "DID_NOT_FINISH"

    /// The status of a book whose latest read has the outcome.
    var status: ReadingStatus {
        switch self {
        case .reading: .reading
        case .finished: .read
        case .didNotFinish: .didNotFinish
        }
    }
}
