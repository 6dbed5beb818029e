/// Any bytes: they are read or refused, and in the same way whether they arrive at once, in two pieces or one by one.
func fuzzHTTP(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let whole = ReadRequests([bytes])
    let cut = bytes.first.map { Int($0) % (count + 1) } ?? 0
    for other in [
        ReadRequests.byteByByte(bytes), ReadRequests([Array(bytes[..<cut]), Array(bytes[cut...])]),
    ] where other != whole {
        fatalError("What arrives in pieces is read differently:\n\(whole)\n---\n\(other)")
    }
    return 0
}
