import Glibc

/// Polls a condition every 5 ms until it is true.
///
/// - Parameter description: says in the error which condition stayed false.
/// - Throws: if the condition is still false after 12,000 attempts (at least a minute).
package func waitUntil(
    _ description: String, _ condition: () async throws -> Bool
) async throws {
    for _ in 0..<12_000 {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(5))
    }
    throw WaitTimeout(description: "timed out waiting until \(description)")
}

/// Like `waitUntil`, but blocks the thread. Use it inside `blocking { … }` or `withConnection { … }`.
package func waitUntilBlocking(_ description: String, _ condition: () throws -> Bool) throws {
    for _ in 0..<12_000 {
        if try condition() { return }
        usleep(5_000)
    }
    throw WaitTimeout(description: "timed out waiting until \(description)")
}

private struct WaitTimeout: Error, CustomStringConvertible {
    let description: String
}
