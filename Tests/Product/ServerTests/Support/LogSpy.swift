import Config
import Logging
import Synchronization

@testable import GraphQLNIO
@testable import Server

/// Stores the lines of a log.
final class LogSpy: Sendable {
    private let stored = Mutex<[String]>([])
    private let level: Logger.Level
    private let format: Configuration.LogFormat

    init(level: Logger.Level = .trace, format: Configuration.LogFormat = .text) {
        self.level = level
        self.format = format
    }

    var lines: [String] { stored.withLock { $0 } }

    var handler: LineLogHandler {
        LineLogHandler(label: "test", level: level, format: format) { bytes in
            self.stored.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
        }
    }
}
