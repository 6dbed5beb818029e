/// Passes arbitrary bytes to the HTTP request reader. The result must be the same whether they
/// arrive at once, in two pieces, or byte by byte.
func fuzzHTTP(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let cut = bytes.first.map { Int($0) % (count + 1) } ?? 0
    let pieces = [bytes.map { [$0] }, [Array(bytes[..<cut]), Array(bytes[cut...])]]
    let whole = ReadRequests([bytes])
    let wholeAtLimits = ReadRequests([bytes], limits: .small)
    for pieces in pieces {
        let other = ReadRequests(pieces)
        guard other == whole else { fail(whole, other) }
        // If a line has two errors, the reader may report a different one when the line arrives in
        // pieces: its length is then checked first.
        let otherAtLimits = ReadRequests(pieces, limits: .small)
        guard otherAtLimits.requests == wholeAtLimits.requests,
            (otherAtLimits.problem == nil) == (wholeAtLimits.problem == nil)
        else { fail(wholeAtLimits, otherAtLimits) }
    }
    return 0
}

private func fail(_ whole: ReadRequests, _ other: ReadRequests) -> Never {
    fatalError("The result differs if the bytes arrive in pieces:\n\(whole)\n---\n\(other)")
}
