import Glibc
import Synchronization

/// A progress bar on standard error. It is shown only on a terminal.
final class Progress: Sendable {
    /// The escape sequence that moves the cursor to the start of the line and clears the line.
    static let clearLine = "\r\u{1B}[K"
    private static let redrawInterval = Duration.milliseconds(100)

    private let label: String
    private let total: Int?
    private let start = ContinuousClock.now
    private let isShown: Bool
    private let state: Mutex<(done: Int, drawnAt: ContinuousClock.Instant?)>

    /// - Parameters:
    ///   - total: The number of items. If it is nil, only the number of processed items and the rate are shown.
    ///   - done: The number of items that earlier runs have processed.
    init(_ label: String, total: Int?, done: Int = 0) {
        self.label = label
        self.total = total
        isShown = isatty(STDERR_FILENO) == 1
        doneBefore = done
        state = Mutex((done, nil))
    }

    private let doneBefore: Int

    /// Counts processed items and redraws the progress bar.
    func advance(by count: Int = 1) {
        guard isShown else { return }
        let now = ContinuousClock.now
        let line: String? = state.withLock { state in
            state.done += count
            if let drawnAt = state.drawnAt, now - drawnAt < Self.redrawInterval { return nil }
            state.drawnAt = now
            return Self.line(
                label, done: state.done, total: total, doneNow: state.done - doneBefore,
                elapsed: now - start, width: Self.terminalWidth)
        }
        if let line { show(Self.clearLine + line) }
    }

    /// Clears the line.
    func finish() {
        if isShown { show(Self.clearLine) }
    }

    private func show(_ text: String) {
        var text = text
        text.withUTF8 { writeAll($0, to: STDERR_FILENO) }
    }

    /// Shows what a command does, if standard error is a terminal, while the work runs.
    static func showing<Result, Failure: Error>(
        _ text: String, _ work: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        show(text + " …")
        defer { show("") }
        return try work()
    }

    /// Shows the text while asynchronous work runs, if standard error is a terminal.
    static func showing<Result, Failure: Error>(
        _ text: String, _ work: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        show(text + " …")
        defer { show("") }
        return try await work()
    }

    private static func show(_ text: String) {
        guard isatty(STDERR_FILENO) == 1 else { return }
        var line = clearLine + text.cut(to: terminalWidth)
        line.withUTF8 { writeAll($0, to: STDERR_FILENO) }
    }

    private static var terminalWidth: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Returns the text of the line, such as `covers [####------] 40% 400/1000 · 20/s · 30 s left`.
    ///
    /// - Parameter doneNow: The number of items that this run has processed. The rate is computed from it.
    static func line(
        _ label: String, done: Int, total: Int?, doneNow: Int, elapsed: Duration, width: Int
    ) -> String {
        let seconds = max(elapsed / .seconds(1), 0.001)
        let rate = Double(doneNow) / seconds
        var words = "\(rate < 10 ? decimal(rate) : "\(Int(rate))")/s"
        guard let total, total > 0 else { return "\(label) \(done) · \(words)".cut(to: width) }
        let share = min(1, Double(done) / Double(total))
        if rate > 0, done < total {
            words += " · \(time(Double(total - done) / rate)) left"
        }
        let before = "\(label) ["
        let after = "] \(Int(share * 100))% \(done)/\(total) · \(words)"
        let cells = max(10, min(30, width - before.count - after.count - 1))
        let filled = Int(share * Double(cells))
        let bar =
            String(repeating: "#", count: filled) + String(repeating: "-", count: cells - filled)
        return (before + bar + after).cut(to: width)
    }

    private static func decimal(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// Formats a duration as `45 s`, `12 min`, or `3 h 20 min`.
    static func time(_ seconds: Double) -> String {
        let seconds = Int(min(seconds, 1e9))
        if seconds < 90 { return "\(seconds) s" }
        let minutes = (seconds + 30) / 60
        return minutes < 90 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60) min"
    }
}

extension String {
    /// Truncates a line. The last column stays empty, because some terminals wrap the line after it.
    fileprivate func cut(to width: Int) -> String { String(prefix(max(1, width - 1))) }
}
