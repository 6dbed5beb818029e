/// Finds the end of a line that may arrive in pieces. Each byte is scanned once.
///
/// A line ends with CR LF. A single CR or LF, or any other control character except the tab, is an error. Lenient
/// parsers that treat these characters differently make request smuggling possible.
///
/// Spec: RFC 9112, sections 2.2 and 11.2
struct LineScanner {
    /// The number of scanned bytes of the incomplete line, without a CR that may be its end. Limits apply to this
    /// number.
    private(set) var scanned = 0

    /// Finds the end of a line.
    ///
    /// - Parameter start: The index where the line begins. It must not change until the end is found.
    /// - Returns: The index of the CR; nil if the line is incomplete.
    mutating func end(
        of bytes: Span<UInt8>, from start: Int
    ) throws(HTTPProblem) -> Int? {
        var index = start + scanned
        while index < bytes.count {
            index = bytes.indexOfPossibleControl(from: index)
            guard index < bytes.count else { break }
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
