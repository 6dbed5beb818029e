extension Source {
    /// The name of the end of the text in error messages.
    static let endOfFile = "<EOF>"

    /// Creates a syntax error at a byte offset. Messages are those of graphql-js.
    func syntaxError(at offset: Int, _ message: String) -> GraphQLError {
        GraphQLError(
            "Syntax Error: " + message, locations: [location(at: Int32(clamping: offset))],
            kind: .invalidSyntax)
    }

    /// Creates the error for a document that exceeds one of its `ParseLimits`. `limit` is the name
    /// of the limit for `extensions.limit`.
    func limitExceeded(
        at offset: Int, _ message: String, limit: String, max: Int
    ) -> GraphQLError {
        GraphQLError(
            "Syntax Error: " + message + " Parsing aborted.",
            locations: [location(at: Int32(clamping: offset))],
            kind: .limitExceeded, extensions: ExceededLimit(name: limit, max: max).extensions)
    }

    /// Throws if the text exceeds `limits.sourceBytesMax` or is not valid UTF-8.
    func check(_ limits: ParseLimits) throws(GraphQLError) {
        guard bytes.count <= limits.sourceBytesMax else {
            throw limitExceeded(
                at: 0, "Document is longer than \(limits.sourceBytesMax) bytes.",
                limit: "sourceBytesMax", max: limits.sourceBytesMax)
        }
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            throw syntaxError(at: error.byteOffsets.lowerBound, "Document is not valid UTF-8.")
        }
    }

    /// Returns a description of the scalar at a byte offset for an error message: `"a"`, `U+00E9`,
    /// or `<EOF>`.
    func describeCharacter(at offset: Int) -> String {
        guard offset < bytes.count else { return Self.endOfFile }
        let scalar = scalar(at: offset)
        switch scalar.value {
        case 0x22: return "'\"'"
        case 0x20...0x7E: return "\"\(Character(scalar))\""
        default:
            let digits = String(scalar.value, radix: 16, uppercase: true)
            return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        }
    }

    /// Returns at most `scalarsMax` Unicode scalars of the text from a byte offset on.
    func excerpt(at offset: Int, scalarsMax: Int) -> String {
        var end = offset
        for _ in 0..<scalarsMax where end < bytes.count { end += UTF8.width(scalar(at: end)) }
        return String(decoding: bytes[offset..<end], as: UTF8.self)
    }

    private func scalar(at offset: Int) -> Unicode.Scalar {
        // The text was validated, and a scalar has at most four bytes, so the first scalar of these
        // bytes is complete.
        let few = bytes[offset..<min(offset + 4, bytes.count)]
        return String(decoding: few, as: UTF8.self).unicodeScalars.first ?? "\u{FFFD}"
    }
}
