/// Reads a file of comma-separated values, one record at a time.
///
/// Lenient where exports are: lines may end in any way, a field that begins with no quote may hold some, and
/// text may follow a closing quote. Spec: https://www.rfc-editor.org/rfc/rfc4180
struct CSVReader: Sequence, IteratorProtocol {
    struct Record: Equatable {
        /// Where it begins, counted from 1; a quoted field may go over several lines.
        let line: Int
        let fields: [String]
    }

    /// Why a record cannot be read.
    enum Problem: Error, Equatable {
        case openQuote, fieldTooLong, tooManyFields, notText

        var message: String {
            switch self {
            case .openQuote: "A quoted field of this record never ends."
            case .fieldTooLong:
                "A field of this record is longer than \(CSVReader.fieldBytesMax) bytes."
            case .tooManyFields:
                "This record has more than \(CSVReader.fieldsMax) fields."
            case .notText: "A field of this record is not UTF-8 text."
            }
        }
    }

    /// The longest review has 100,000 characters of at most four bytes.
    static let fieldBytesMax = 500_000
    static let fieldsMax = 200

    private var rest: ArraySlice<UInt8>
    private let separator: UInt8
    private var line = 1

    private static let quote = UInt8(ascii: "\"")
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// - Parameter bytes: UTF-8, with or without a byte order mark.
    init(_ bytes: ArraySlice<UInt8>, separator: UInt8 = UInt8(ascii: ",")) {
        rest = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes
        self.separator = separator
    }

    /// The next record, blank lines passed over; after a problem it goes on behind the record.
    mutating func next() -> Result<Record, Failure>? {
        while let byte = rest.first, byte == Self.lineFeed || byte == Self.carriageReturn {
            endLine()
        }
        guard !rest.isEmpty else { return nil }
        let start = line
        var fields: [String] = []
        var problem: Problem?
        while true {
            let (bytes, isComplete) = field()
            if !isComplete { problem = problem ?? .openQuote }
            if bytes.count > Self.fieldBytesMax { problem = problem ?? .fieldTooLong }
            if fields.count >= Self.fieldsMax {
                problem = problem ?? .tooManyFields
            } else if problem == nil {
                if let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) {
                    fields.append(text)
                } else {
                    problem = .notText
                }
            }
            guard rest.first == separator else { break }
            rest = rest.dropFirst()
        }
        if !rest.isEmpty { endLine() }
        if let problem { return .failure(Failure(line: start, problem: problem)) }
        return .success(Record(line: start, fields: fields))
    }

    struct Failure: Error, Equatable {
        let line: Int
        let problem: Problem
    }

    /// The bytes of the next field, up to its separator or the end of its line.
    private mutating func field() -> (bytes: [UInt8], isComplete: Bool) {
        var bytes: [UInt8] = []
        var isComplete = true
        if rest.first == Self.quote {
            rest = rest.dropFirst()
            isComplete = false
            while let end = rest.firstIndex(of: Self.quote) {
                append(rest[..<end], to: &bytes)
                rest = rest[(end + 1)...]
                guard rest.first == Self.quote else {
                    isComplete = true
                    break
                }
                bytes.append(Self.quote)
                rest = rest.dropFirst()
            }
            if !isComplete {
                append(rest, to: &bytes)
                rest = rest[rest.endIndex...]
            }
        }
        let end = rest.firstIndex {
            $0 == separator || $0 == Self.lineFeed || $0 == Self.carriageReturn
        }
        append(rest[..<(end ?? rest.endIndex)], to: &bytes)
        rest = rest[(end ?? rest.endIndex)...]
        return (bytes, isComplete)
    }

    /// Adds what stands there, and counts its lines. What is too long anyway is not kept.
    private mutating func append(_ part: ArraySlice<UInt8>, to bytes: inout [UInt8]) {
        line += part.count { $0 == Self.lineFeed }
        bytes += part.prefix(Self.fieldBytesMax + 1 - Swift.min(bytes.count, Self.fieldBytesMax))
    }

    private mutating func endLine() {
        let isPair = rest.starts(with: [Self.carriageReturn, Self.lineFeed])
        rest = rest.dropFirst(isPair ? 2 : 1)
        line += 1
    }
}
