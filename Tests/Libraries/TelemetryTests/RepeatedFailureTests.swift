import Testing

@testable import Telemetry

@Suite struct RepeatedFailureTests {
    @Test func aFailureIsLoggedWhenItChangesAndEveryTenMinutes() {
        let start = ContinuousClock.now
        var failure = RepeatedFailure()
        let logged = [(0, "a"), (1, "a"), (2, "b"), (3, "b"), (603, "b"), (604, "b")].map {
            seconds, reason in
            failure.isToBeLogged(reason, now: start + .seconds(seconds))
        }
        #expect(logged == [true, false, true, false, true, false])
        failure.end()
        let isLoggedAgain = failure.isToBeLogged("b", now: start + .seconds(605))
        #expect(isLoggedAgain)
    }
}
