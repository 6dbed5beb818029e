extension IndexedText {
    /// Returns a description of the token at `start` for an error message: `Name "a"`, `"}"`, or
    /// `<EOF>`.
    ///
    /// - Throws: the lexical error if there is no valid token at `start`. It takes precedence over
    ///   an error of the grammar.
    @inline(never)
    func describeToken(at start: Int) throws(SyntaxFailure) -> String {
        switch self[start] {
        case _ where start == count:
            return Source.endOfFile
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "("),
            UInt8(ascii: ")"), UInt8(ascii: ":"), UInt8(ascii: "="), UInt8(ascii: "@"),
            UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "{"), UInt8(ascii: "|"),
            UInt8(ascii: "}"):
            return "\"\(Character(Unicode.Scalar(self[start])))\""
        case _ where bytes.isSpread(at: start):
            return "\"...\""
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            let number = try scanNumber(at: start)
            return "\(number.isFloat ? "Float" : "Int") \"\(source.text(start..<number.end))\""
        case UInt8(ascii: "\""):
            let string = try scanString(at: start)
            return "\(string.isBlock ? "BlockString" : "String") \"\(string.value)\""
        case UInt8(ascii: "'"):
            throw failure(
                at: start,
                "Unexpected single quote character ('), did you mean to use a double quote (\")?")
        default:
            guard let name = bytes.name(at: start) else {
                throw failure(
                    at: start, "Unexpected character: \(source.describeCharacter(at: start)).")
            }
            return "Name \"\(source.text(name.start..<name.end))\""
        }
    }
}
