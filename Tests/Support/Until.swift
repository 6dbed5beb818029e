/// Waits until it is so, for as long as a busy machine may need.
package func until(_ what: String, _ condition: () async throws -> Bool) async throws {
    for _ in 0..<3000 {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(5))
    }
    throw NeverSo(description: what)
}

private struct NeverSo: Error, CustomStringConvertible {
    let description: String
}
