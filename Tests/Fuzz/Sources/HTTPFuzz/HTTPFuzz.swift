/// Any bytes: they are read or refused, and in the same way whether they arrive at once, in two pieces or one by one.
func fuzzHTTP(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let cut = bytes.first.map { Int($0) % (count + 1) } ?? 0
    let pieces = [bytes.map { [$0] }, [Array(bytes[..<cut]), Array(bytes[cut...])]]
    let whole = ReadRequests([bytes])
    let wholeAtLimits = ReadRequests([bytes], limits: .small)
    for pieces in pieces {
        let other = ReadRequests(pieces)
        guard other == whole else { fail(whole, other) }
        // Of two faults in a line, its length is the first that is seen where it comes in pieces.
        let otherAtLimits = ReadRequests(pieces, limits: .small)
        guard otherAtLimits.requests == wholeAtLimits.requests,
            (otherAtLimits.problem == nil) == (wholeAtLimits.problem == nil)
        else { fail(wholeAtLimits, otherAtLimits) }
    }
    return 0
}

private func fail(_ whole: ReadRequests, _ other: ReadRequests) -> Never {
    fatalError("What arrives in pieces is read differently:\n\(whole)\n---\n\(other)")
}
