import Postgres
import TestSupport
import Testing

@testable import Bookplate
@testable import Requests

/// LISTEN that succeeds although no notification arrives.
@Suite struct NotificationEchoTests {
    private let start = ContinuousClock.now

    /// Returns whether a notification is missing, and whether this is the first time.
    private func check(_ echo: inout NotificationEcho, after seconds: Double) -> [Bool] {
        switch echo.check(at: start + .seconds(seconds)) {
        case .expected: [false]
        case .missing(let isFirst): [true, isFirst]
        }
    }

    @Test func aMissingNotificationIsFoundAndReportedOnce() {
        var echo = NotificationEcho()
        #expect(check(&echo, after: 100) == [false])  // not connected
        echo.connected(at: start)
        #expect(check(&echo, after: 2) == [false])
        #expect(check(&echo, after: 4) == [true, true])
        #expect(check(&echo, after: 6) == [true, false])
        echo.arrived(at: start + .seconds(7))
        #expect(check(&echo, after: 9) == [false])
        #expect(check(&echo, after: 11) == [true, true])
        echo.disconnected()
        #expect(check(&echo, after: 20) == [false])
    }

    /// The hub listens in another database, where no notification arrives. It then polls four times per second.
    @Test func changesArriveWithoutNotifications() async throws {
        let other = try await TestCluster.shared.makeEmptyDatabase()
        let app = try await TestApp.start(
            catalog: [], listeningAt: try other.url(as: TestCluster.app))
        let reader = try await app.makeReader()
        let live = try await reader.subscribe("subscription { changes { typename } }")
        for name in ["One", "Two"] {
            _ = try await reader.makeShelf(name)
            #expect(await live.next()["data", "changes", "typename"] == "Shelf")
        }
        #expect(!app.hub.isListening, "a hub that listens polls every ten seconds only")
    }
}
