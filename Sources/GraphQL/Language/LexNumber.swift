extension Lexer {
    /// Finds the end of the number that starts at `start`.
    ///
    /// IntValue :: IntegerPart [lookahead != {Digit, `.`, NameStart}]
    ///
    /// FloatValue :: IntegerPart FractionalPart? ExponentPart? [lookahead != {Digit, `.`, NameStart}],
    /// one of both parts at least
    ///
    /// Spec: https://spec.graphql.org/September2025/#sec-Int-Value
    mutating func scanNumber(from start: Int) throws(GraphQLError) -> (end: Int, isFloat: Bool) {
        var position = start
        var isFloat = false
        if bytes[position] == UInt8(ascii: "-") { position += 1 }
        if byteIs(UInt8(ascii: "0"), at: position, in: bytes) {
            position += 1
            if position < bytes.count, isDigit(bytes[position]) {
                throw source.syntaxError(
                    at: position,
                    "Invalid number, unexpected digit after 0: \(source.describeCharacter(at: position))."
                )
            }
        } else {
            position = try endOfDigits(from: position)
        }
        if byteIs(UInt8(ascii: "."), at: position, in: bytes) {
            isFloat = true
            position = try endOfDigits(from: position + 1)
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            isFloat = true
            position += 1
            if byteIs(UInt8(ascii: "+"), at: position, in: bytes)
                || byteIs(UInt8(ascii: "-"), at: position, in: bytes)
            {
                position += 1
            }
            position = try endOfDigits(from: position)
        }
        if position < bytes.count,
            bytes[position] == UInt8(ascii: ".") || isNameStart(bytes[position])
        {
            throw expectedDigit(at: position)
        }
        return (position, isFloat)
    }

    private mutating func endOfDigits(from start: Int) throws(GraphQLError) -> Int {
        guard start < bytes.count, isDigit(bytes[start]) else { throw expectedDigit(at: start) }
        var position = start + 1
        while position < bytes.count, isDigit(bytes[position]) { position += 1 }
        return position
    }

    private mutating func expectedDigit(at position: Int) -> GraphQLError {
        source.syntaxError(
            at: position,
            "Invalid number, expected digit but got: \(source.describeCharacter(at: position)).")
    }
}
