import Foundation
import GRDB

@testable import BookplateClient

/// A bug of a client, to show that the simulation finds it.
enum PlantedFault: String, CaseIterable {
    /// An answered write leaves the queue before the change log has delivered its effect.
    case forgetsAnsweredWrites
    /// The queue is not durable.
    case losesTheQueueAtRestart
    /// A request that is sent again gets another id.
    case choosesNewIDsForRepetitions
    /// The queue is emptied when the session ends.
    case clearsTheQueueWithTheSession
    /// A refused write is removed without a report.
    case hidesRefusals
    /// Objects that were deleted while the device slept stay after a reset.
    case keepsUnseenObjects
    /// The swipes are not durable.
    case forgetsSwipesAtRestart
    /// The cursor is stored, but the page is not.
    case skipsAPage

    func afterRestart(_ device: SimulatedDevice) throws {
        switch self {
        case .losesTheQueueAtRestart:
            try device.database.write { try $0.execute(sql: "DELETE FROM write") }
        case .forgetsSwipesAtRestart:
            try device.database.write { try $0.execute(sql: "UPDATE card SET action = NULL") }
        default: break
        }
    }

    func change(_ request: inout SyncRequest, of device: SimulatedDevice) {
        guard self == .choosesNewIDsForRepetitions, case .write = request.purpose,
            case .object(var variables) = request.variables,
            case .object(var input)? = variables["input"],
            request.document.contains("createBook")
        else { return }
        input["id"] = .string("new-\(device.library.environment.random())")
        variables["input"] = .object(input)
        request = SyncRequest(
            purpose: request.purpose, document: request.document, variables: .object(variables))
    }

    func afterResponse(
        _ device: SimulatedDevice, _ request: SyncRequest, _ outcome: SyncOutcome,
        before: LibrarySnapshot
    ) throws {
        try device.database.write { db in
            switch self {
            case .forgetsAnsweredWrites:
                try LibraryState(db: db).receive { _ in try WriteQueue(db: db).removeAnswered() }
            case .clearsTheQueueWithTheSession:
                if device.engine.needsToken { try db.execute(sql: "DELETE FROM write") }
            case .hidesRefusals: try db.execute(sql: "DELETE FROM problem")
            case .keepsUnseenObjects:
                guard request.document.contains("notes("), try SyncPosition.load(db).reset == nil
                else { return }
                let state = LibraryState(db: db)
                for book in before.books where try state.find(Book.self, book.id) == nil {
                    try book.upsert(db)
                }
            case .skipsAPage:
                guard request.document.contains("changes("), device.done.count % 5 == 4,
                    try Write.fetchCount(db) == 0
                else { return }
                for book in try Book.fetchAll(db)
                where !before.books.contains(where: { $0.id == book.id }) {
                    try book.delete(db)
                }
            case .losesTheQueueAtRestart, .choosesNewIDsForRepetitions, .forgetsSwipesAtRestart:
                break
            }
        }
    }
}
