import Foundation
import GRDB

/// Reports that the change log has grown, as soon as it has.
///
/// The event is only a hint. The sync loop reads the log, so a broken connection loses nothing.
struct LiveChanges: Sendable {
    let userID: String
    let reader: any DatabaseReader
    let client: GraphQLClient
    let authenticator: Authenticator
    let environment: ClientEnvironment

    private struct Event: Decodable { let changes: Change }
    private struct Change: Decodable { let cursor: String }

    /// Runs until the task is cancelled.
    func run(_ report: @Sendable () async -> Void) async throws {
        try await waitForFirstSync()
        var delay = Delay()
        while true {
            let cursor = try await reader.read { try SyncPosition.load($0).cursor }
            let events = SubscriptionEvents(
                client: client, authenticator: authenticator, userID: userID
            )
            .stream(
                "subscription ($after: String) { changes(after: $after) { cursor } }",
                ["after": JSON(cursor)], as: Event.self)
            do {
                for try await _ in events {
                    delay = Delay()
                    await report()
                }
            } catch BookplateError.signInNeeded {
                throw BookplateError.signInNeeded
            } catch {
                // The connection broke, the token expired, or the cursor is too old: the log says what is new.
                try Task.checkCancellation()
            }
            try await delay.wait(environment, longest: 30)
            await report()
        }
    }

    /// During the first sync, the log is read page by page anyway.
    private func waitForFirstSync() async throws {
        let isComplete = ValueObservation.tracking { try SyncPosition.load($0).isComplete }
        for try await isComplete in isComplete.values(in: reader) where isComplete { return }
        try Task.checkCancellation()
    }
}
