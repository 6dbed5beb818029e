import Foundation
import GRDB

/// A queued write: a mutation of the API with its variables. The variables contain the ids of everything that the mutation creates, so
/// the server treats a repetition as the same write.
struct Write: Codable, Hashable, Sendable, FetchableRecord, MutablePersistableRecord {
    static let databaseTableName = "write"

    /// The position in the queue. Nil before the write is stored.
    var seq: Int64?
    let operation: Operation
    /// The id of the object that the mutation changes or creates.
    let target: String
    var input: [String: JSON]
    /// The objects that the mutation changes. Writes that change the same object are sent one after the other.
    let changes: Set<String>
    /// The objects that the mutation refers to.
    let needs: Set<String>
    /// The objects among `changes` that do not exist before the mutation.
    let creates: Set<String>
    let madeAt: Timestamp
    /// The card of the book. The library shows its facts until the server has the book.
    let card: FeedCard?
    /// Whether the server has done it. The write stays in the queue until its effects have arrived.
    var isAnswered = false

    enum CodingKeys: String, CodingKey {
        case seq, operation, target, input, changes, needs, creates, madeAt, card
        case isAnswered = "answered"
    }

    /// - Parameter related: other objects that the mutation changes, such as the book of a read.
    init(
        _ operation: Operation, _ target: String, _ input: [String: JSON] = [:],
        related: Set<String> = [], needs: Set<String> = [], creates: Set<String> = [],
        card: FeedCard? = nil, at: Timestamp
    ) {
        self.operation = operation
        self.target = target
        self.input = input
        changes = related.union(creates).union([target])
        self.needs = needs
        self.creates = creates
        self.card = card
        madeAt = at
    }

    mutating func didInsert(_ inserted: InsertionSuccess) { seq = inserted.rowID }

    /// Everything that belongs to the order of shelves.
    static let allShelves = "shelves"
    /// Everything in the library: no other write is sent at the same time.
    static let library = "library"

    /// Whether the two writes may be sent at the same time.
    func isIndependent(of other: Write) -> Bool {
        !changes.contains(Self.library) && !other.changes.contains(Self.library)
            && changes.isDisjoint(with: other.changes) && changes.isDisjoint(with: other.needs)
            && needs.isDisjoint(with: other.changes)
    }
}

/// A mutation that can be queued. The raw value is the name of the field.
enum Operation: String, Codable, CaseIterable, Sendable {
    case createShelf, updateShelf, deleteShelf
    case createBook, updateBook, moveBook, deleteBook, restoreBook, reviewBook, deleteReview
    case startRead, updateRead, finishRead, deleteRead
    case logProgress, updateProgress, deleteProgress
    case createNote, updateNote, deleteNote
    case setReadingGoal, deleteReadingGoal
    case recordSwipes, undoSwipe
    case setCover, removeCover

    /// The document of the mutation. The response contains nothing but ids: the effects arrive in the change log.
    var document: String {
        let name = rawValue
        return switch (inputType, takesID) {
        case (let type?, true):
            "mutation ($id: ID!, $input: \(type)!) { \(name)(id: $id, input: $input) \(selection) }"
        case (let type?, false):
            "mutation ($input: \(type)!) { \(name)(\(inputName): $input) \(selection) }"
        case (nil, _): "mutation ($id: ID!) { \(name)(id: $id) \(selection) }"
        }
    }

    /// Whether the mutation takes a list of inputs. Only the batch of progress reports the errors of its entries separately, and swipes
    /// have no other mutation.
    var isBatch: Bool { self == .logProgress || self == .recordSwipes }

    private var inputName: String { isBatch ? "inputs" : "input" }

    private var selection: String {
        switch self {
        case .moveBook: "{ joinedShelf { id } }"
        case .logProgress: "{ error { code reason message min max field } }"
        case .recordSwipes: "{ unknownCardIds saved { id } }"
        case .undoSwipe: "{ card { id } }"
        default: "{ id }"
        }
    }

    private var takesID: Bool {
        ![
            .createShelf, .createBook, .logProgress, .createNote, .setReadingGoal, .recordSwipes,
            .undoSwipe,
        ].contains(self)
    }

    private var inputType: String? {
        switch self {
        case .createShelf: "CreateShelfInput"
        case .updateShelf: "UpdateShelfInput"
        case .deleteShelf: "DeleteShelfInput"
        case .createBook: "CreateBookInput"
        case .updateBook: "UpdateBookInput"
        case .moveBook: "MoveBookInput"
        case .reviewBook: "ReviewInput"
        case .startRead: "ReadInput"
        case .updateRead: "UpdateReadInput"
        case .finishRead: "FinishReadInput"
        case .logProgress: "[LogProgressInput!]"
        case .updateProgress: "UpdateProgressInput"
        case .createNote: "CreateNoteInput"
        case .updateNote: "UpdateNoteInput"
        case .setReadingGoal: "SetReadingGoalInput"
        case .recordSwipes: "[SwipeInput!]"
        case .undoSwipe: "UndoSwipeInput"
        case .setCover: "CoverSourceInput"
        case .deleteBook, .restoreBook, .deleteReview, .deleteRead, .deleteProgress, .deleteNote,
            .deleteReadingGoal, .removeCover:
            nil
        }
    }
}

extension Write {
    /// The variables of the document.
    var variables: JSON {
        if operation.isBatch { return ["input": .array([.object(input)])] }
        // The file follows in another part of the request.
        let input: [String: JSON] = upload == nil ? input : ["image": nil]
        return ["id": .string(target), "input": .object(input)]
    }
}
