/// The part of a file that the header `Range` requests.
///
/// Spec: RFC 9110, section 14
enum ByteRange: Equatable {
    case whole
    case part(Range<Int>)
    case unsatisfiable

    /// - Parameters:
    ///   - header: The value of the `range` header. A header with several ranges, or a malformed one, is ignored.
    ///   - count: The size of the file in bytes.
    init(_ header: String?, of count: Int) {
        guard let header, header.hasPrefix("bytes=") else {
            self = .whole
            return
        }
        let ends = header.dropFirst(6).split(
            separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1])
        else {
            self = .whole
            return
        }
        switch (first, last) {
        case (nil, nil):
            self = .whole
        case (nil, let suffix?):
            self =
                suffix == 0 || count == 0 ? .unsatisfiable : .part(max(0, count - suffix)..<count)
        case (let first?, let last):
            if let last, last < first {
                self = .whole
            } else if first >= count {
                self = .unsatisfiable
            } else {
                self = .part(first..<min(count, (last ?? count) &+ (last == nil ? 0 : 1)))
            }
        }
    }

    /// Parses one end of a range. Returns nil if it is not a number, and an inner nil if it is empty.
    private static func number(_ text: Substring) -> Int?? {
        if text.isEmpty { return .some(nil) }
        guard text.utf8.count <= 18, text.utf8.allSatisfy({ (48...57).contains($0) }),
            let number = Int(text)
        else { return nil }
        return number
    }
}
