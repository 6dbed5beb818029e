import Config
import Glibc
import GraphQLNIO
import Logging
import NIOCore

struct LogLine {
    /// Milliseconds since 1970.
    var time: Int64
    var level: Logger.Level
    var label: String
    var message: String
    /// The metadata, sorted by name.
    var fields: [(String, Value)]

    enum Value {
        case text(String)
        /// A number in the syntax of JSON.
        case number(String)

        var text: String {
            switch self {
            case .text(let text), .number(let text): text
            }
        }

        /// Integers and finite floating-point numbers are numbers; everything else is text.
        init(_ value: Logger.MetadataValue) {
            switch value {
            case .stringConvertible(let number as any BinaryInteger): self = .number("\(number)")
            case .stringConvertible(let number as Double) where number.isFinite:
                self = .number("\(number)")
            default: self = .text(value.description)
            }
        }
    }

    /// Returns the line with its newline. Control characters are escaped, so that a message cannot forge a line.
    func bytes(_ format: Configuration.LogFormat) -> [UInt8] {
        switch format {
        case .text: Array((text + "\n").utf8)
        case .json: json
        }
    }

    private var text: String {
        let fields = fields.map { " \($0.0)=\(Self.quoted($0.1.text))" }.joined()
        let level = level.rawValue.uppercased()
        let padding = String(repeating: " ", count: max(0, 8 - level.utf8.count))
        return "\(timestamp) \(level)\(padding) \(Self.escaped(message))\(fields)"
    }

    private var json: [UInt8] {
        var line = ByteBuffer()
        var opening = "{"
        let members = [
            ("time", timestamp), ("level", level.rawValue), ("logger", label), ("message", message),
        ]
        for (name, value) in members.map({ ($0.0, Value.text($0.1)) }) + fields {
            line.writeString(opening)
            line.writeJSONString(name)
            line.writeString(":")
            switch value {
            case .text(let text): line.writeJSONString(text)
            case .number(let number): line.writeString(number)
            }
            opening = ","
        }
        line.writeString("}\n")
        return Array(line.readableBytesView)
    }

    /// The time in RFC 3339 format, in UTC, with milliseconds.
    private var timestamp: String {
        var second = time_t(time / 1000)
        var date = tm()
        gmtime_r(&second, &date)
        func digits(_ number: Int, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        let day = [Int(date.tm_year) + 1900, Int(date.tm_mon) + 1, Int(date.tm_mday)]
        let clock = [date.tm_hour, date.tm_min, date.tm_sec].map { digits(Int($0), 2) }
        return day.map { digits($0, 2) }.joined(separator: "-") + "T"
            + clock.joined(separator: ":") + ".\(digits(Int(time % 1000), 3))Z"
    }

    private static func quoted(_ value: String) -> String {
        let isPlain =
            !value.isEmpty && value.utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x7F }
        return isPlain ? value : "\"\(escaped(value).replacing("\"", with: "\\\""))\""
    }

    private static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return text }
        return text.unicodeScalars.map { scalar in
            scalar.properties.generalCategory == .control
                ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }.joined()
    }
}
