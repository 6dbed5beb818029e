import CLibPQ

/// A parsed libpq connection string, whose settings can be changed to reach another database or role.
///
/// Format: https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNSTRING
package struct ConnectionString: Sendable, CustomStringConvertible {
    private var settings: [String: String] = [:]

    /// Parses a connection string.
    ///
    /// - Parameter text: A URL or `keyword=value` pairs.
    /// - Throws: `.connectFailed` with libpq's message.
    package init(_ text: String) throws(PostgresError) {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(text, &message) else {
            defer { PQfreemem(message) }
            throw .connectFailed(message.map { oneLine(String(cString: $0)) } ?? "out of memory")
        }
        defer { PQconninfoFree(options) }
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val {
                settings[String(cString: keyword)] = String(cString: value)
            }
            option += 1
        }
    }

    /// The value of a keyword such as `dbname`, `user`, or `host`; nil for libpq's default.
    package subscript(keyword: String) -> String? {
        get { settings[keyword] }
        set { settings[keyword] = newValue }
    }

    /// The settings as `keyword='value'` pairs, sorted by keyword.
    package var description: String {
        settings.sorted { $0.key < $1.key }.map { keyword, value in
            var quoted = ""
            for character in value.unicodeScalars {
                if character == "'" || character == "\\" { quoted += "\\" }
                quoted.unicodeScalars.append(character)
            }
            return "\(keyword)='\(quoted)'"
        }.joined(separator: " ")
    }
}
