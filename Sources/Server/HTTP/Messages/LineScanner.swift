/// Finds the end of a line that may arrive in pieces, and looks at each byte once.
///
/// A line ends with CR LF. A CR or LF alone, and any other control character but the tab, is refused: programs
/// that read a message differently are what request smuggling is made of.
///
/// Spec: RFC 9112, sections 2.2 and 11.2
struct LineScanner {
    /// Bytes of the unfinished line that have been looked at, without the CR that may be its end: what a whole line
    /// is measured by.
    private(set) var scanned = 0

    /// - Parameter start: where the line begins; the same until its end is found.
    /// - Returns: where its CR is; nil until the whole line is there.
    mutating func end(
        of bytes: Span<UInt8>, from start: Int
    ) throws(HTTPProblem) -> Int? {
        var index = start + scanned
        while index < bytes.count {
            let byte = bytes[index]
            if byte.isControl {
                guard byte == 0x0D else { throw .malformed }
                guard index + 1 < bytes.count else { break }
                guard bytes[index + 1] == 0x0A else { throw .malformed }
                scanned = 0
                return index
            }
            index += 1
        }
        scanned = index - start
        return nil
    }
}

extension HTTPProblem {
    static var malformed: Self { .badRequest("The request is not well-formed HTTP.") }
}
