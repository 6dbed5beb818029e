extension Source {
    /// Returns the lines and columns of many byte offsets. The text is scanned only once.
    func locations(at offsets: some Sequence<Int32>) -> [Int32: SourceLocation] {
        var locations: [Int32: SourceLocation] = [:]
        var location = SourceLocation(line: 1, column: 1)
        var index = 0
        for offset in Set(offsets).sorted() {
            let end = min(max(Int(offset), 0), bytes.count)
            while index < end {
                move(&location, past: index)
                index += 1
            }
            locations[offset] = location
        }
        return locations
    }

    private func move(_ location: inout SourceLocation, past index: Int) {
        let byte = bytes[index]
        switch byte {
        case UInt8(ascii: "\r")
        where index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "\n"):
            location.column += 1
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
            location = SourceLocation(line: location.line + 1, column: 1)
        case 0b1000_0000..<0b1100_0000:
            break
        default:
            location.column += byte >= 0b1111_0000 ? 2 : 1
        }
    }
}
