import ArgumentParser
import Glibc
import GraphQL

/// The option `--json`, which every command has.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print the result as a JSON document.")
    var json = false

    /// Prints the result of a command to standard output, as JSON or as lines of text.
    func print(_ value: Value, lines: @autoclosure () -> [String]) {
        if json {
            var writer = ResponseWriter()
            writer.write(value)
            writer.append(UInt8(ascii: "\n"))
            writer.withBytes { writeAll($0, to: STDOUT_FILENO) }
        } else {
            var text = lines().map { $0 + "\n" }.joined()
            text.withUTF8 { writeAll($0, to: STDOUT_FILENO) }
        }
    }
}

extension OutputOptions {
    /// Prints the result of a command to standard output, as JSON or as a table.
    func print(_ value: Value, _ table: Table) { print(value, lines: table.lines()) }
}

/// Prints a message to standard error. If there is a progress bar on the terminal, the message replaces it.
func printError(_ message: String) {
    var text = (isatty(STDERR_FILENO) == 1 ? Progress.clearLine : "") + message + "\n"
    text.withUTF8 { writeAll($0, to: STDERR_FILENO) }
}

/// Writes all bytes. Stops silently at an error, such as a closed pipe.
func writeAll(_ bytes: UnsafeBufferPointer<UInt8>, to descriptor: Int32) {
    var rest = bytes[...]
    while let start = UnsafeBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
        let count = Glibc.write(descriptor, start, rest.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
    }
}
