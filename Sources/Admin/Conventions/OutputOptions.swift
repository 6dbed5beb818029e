import ArgumentParser
import GraphQL
import Glibc

/// What every command prints: its result on standard output, words for people on standard error.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print one JSON document on standard output.")
    var json = false

    /// Prints a result: as JSON, or as lines for people.
    func print(_ value: Value, lines: @autoclosure () -> [String]) {
        if json {
            var writer = ResponseWriter()
            writer.write(value)
            writer.append(UInt8(ascii: "\n"))
            writer.withBytes { put($0, STDOUT_FILENO) }
        } else {
            var text = lines().map { $0 + "\n" }.joined()
            text.withUTF8 { put($0, STDOUT_FILENO) }
        }
    }
}

/// Words for people: to standard error, in place of a progress bar that may stand there.
func tell(_ message: String) {
    var text = (isatty(STDERR_FILENO) == 1 ? Progress.clearLine : "") + message + "\n"
    text.withUTF8 { put($0, STDERR_FILENO) }
}

/// Writes all bytes, or as many as the reader still wants.
func put(_ bytes: UnsafeBufferPointer<UInt8>, _ descriptor: Int32) {
    var rest = bytes[...]
    while let start = UnsafeBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
        let count = Glibc.write(descriptor, start, rest.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
    }
}
