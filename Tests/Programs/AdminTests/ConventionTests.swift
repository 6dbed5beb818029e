import Testing

@testable import Admin

@Suite struct ProgressTests {
    @Test(arguments: [
        (0, 0, 0.0, "covers [--------------------] 0% 0/1000 · 0.0/s"),
        (250, 250, 10.0, "covers [#####---------------] 25% 250/1000 · 25/s · 30 s left"),
        // The rate of a resumed run counts only the items of this run.
        (600, 100, 100.0, "covers [############--------] 60% 600/1000 · 1.0/s · 7 min left"),
        (1000, 1000, 10.0, "covers [####################] 100% 1000/1000 · 100/s"),
        (2000, 2000, 10.0, "covers [####################] 100% 2000/1000 · 200/s"),
    ])
    func showsShareRateAndRemainingTime(
        done: Int, doneNow: Int, seconds: Double, expected: String
    ) {
        let line = Progress.line(
            "covers", done: done, total: 1000, doneNow: doneNow, elapsed: .seconds(seconds),
            width: expected.count + 1)
        #expect(line == expected)
    }

    @Test func showsNoBarWithoutATotal() {
        let line = Progress.line(
            "lines", done: 30, total: nil, doneNow: 30, elapsed: .seconds(10), width: 80)
        #expect(line == "lines 30 · 3.0/s")
    }

    @Test(arguments: [1, 5, 20, 40, 200])
    func fitsTheWidthOfTheTerminal(width: Int) {
        let line = Progress.line(
            "covers", done: 1, total: 3, doneNow: 1, elapsed: .seconds(1), width: width)
        #expect(line.count <= max(1, width - 1))
    }

    @Test(arguments: [
        (5.0, "5 s"), (89.9, "89 s"), (120, "2 min"), (7200, "2 h 0 min"),
        (1e300, "277777 h 47 min"),
    ])
    func formatsDurations(seconds: Double, expected: String) {
        #expect(Progress.time(seconds) == expected)
    }
}

@Suite struct ConfirmationTests {
    private func confirm(yes: Bool, interactive: Bool, answer: String?) throws(Failure) {
        var options = ConfirmationOptions()
        options.yes = yes
        try options.confirm(
            "This deletes everything.", byTyping: "reader", isInteractive: interactive,
            answer: { answer })
    }

    @Test func acceptsOnlyTheNameOrYes() throws {
        try confirm(yes: true, interactive: false, answer: nil)
        try confirm(yes: false, interactive: true, answer: "reader")
        for answer in [nil, "", "y", "yes", "Reader"] {
            let failure = #expect(throws: Failure.self) {
                try confirm(yes: false, interactive: true, answer: answer)
            }
            #expect(failure?.status == .failed)
        }
    }

    @Test func requiresYesIfNotInteractive() {
        let failure = #expect(throws: Failure.self) {
            try confirm(yes: false, interactive: false, answer: "reader")
        }
        #expect(failure?.status == .usage)
        #expect(failure?.message.contains("--yes") == true)
    }
}
