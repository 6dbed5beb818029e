import Config
import Glibc
import Logging
import Telemetry

/// Writes log lines to standard error, as text or as JSON.
///
/// Each line is written with a single system call, so lines of several threads do not mix. A line that cannot be
/// written is dropped.
package struct LineLogHandler: LogHandler {
    package var logLevel: Logger.Level
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    private let label: String
    private let format: Configuration.LogFormat
    private let write: @Sendable ([UInt8]) -> Void

    /// - Parameter write: Receives one line with its newline. The default writes to standard error.
    package init(
        label: String, level: Logger.Level, format: Configuration.LogFormat,
        write: @escaping @Sendable ([UInt8]) -> Void = { line in
            _ = line.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
        }
    ) {
        self.label = label
        logLevel = level
        self.format = format
        self.write = write
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var fields = metadata
        if let provided = metadataProvider?.get() { fields.merge(provided) { _, new in new } }
        if let given = event.metadata { fields.merge(given) { _, new in new } }
        if let trace = TraceParent.current { fields["trace_id"] = "\(trace.traceID)" }
        let line = LogLine(
            time: Self.now(), level: event.level, label: label, message: event.message.description,
            fields: fields.map { ($0.key, LogLine.Value($0.value)) }.sorted { $0.0 < $1.0 })
        write(line.bytes(format))
    }

    /// Returns the current time in milliseconds since 1970.
    private static func now() -> Int64 {
        var clock = timespec()
        clock_gettime(CLOCK_REALTIME, &clock)
        return Int64(clock.tv_sec) * 1000 + Int64(clock.tv_nsec) / 1_000_000
    }
}

extension Logger {
    /// Creates a logger with the level and the format of the configuration.
    package init(label: String, _ configuration: Configuration) {
        // Both enums have the same case names.
        let level = Logger.Level(rawValue: configuration.logLevel.rawValue) ?? .info
        self.init(label: label) { label in
            LineLogHandler(label: label, level: level, format: configuration.logFormat)
        }
    }
}
