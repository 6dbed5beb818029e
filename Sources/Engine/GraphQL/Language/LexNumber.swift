extension IndexedText {
    /// Returns the end of the number at `start` and whether it is a FloatValue.
    ///
    /// IntValue :: IntegerPart [lookahead != {Digit, `.`, NameStart}]
    ///
    /// FloatValue :: IntegerPart FractionalPart? ExponentPart? [lookahead != {Digit, `.`,
    /// NameStart}], with at least one of the two optional parts
    ///
    /// Spec: https://spec.graphql.org/September2025/#sec-Int-Value
    func scanNumber(at start: Int) throws(SyntaxFailure) -> (end: Int, isFloat: Bool) {
        var position = start
        var isFloat = false
        if self[position] == UInt8(ascii: "-") { position += 1 }
        if self[position] == UInt8(ascii: "0") {
            position += 1
            if isDigit(self[position]) {
                throw failure(
                    at: position,
                    "Invalid number, unexpected digit after 0: \(source.describeCharacter(at: position))."
                )
            }
        } else {
            position = try endOfDigits(from: position)
        }
        if self[position] == UInt8(ascii: ".") {
            isFloat = true
            position = try endOfDigits(from: position + 1)
        }
        if self[position] | 0x20 == UInt8(ascii: "e") {
            isFloat = true
            position += 1
            if self[position] == UInt8(ascii: "+") || self[position] == UInt8(ascii: "-") {
                position += 1
            }
            position = try endOfDigits(from: position)
        }
        if self[position] == UInt8(ascii: ".") || isNameStart(self[position]) {
            throw expectedDigit(at: position)
        }
        return (position, isFloat)
    }

    private func endOfDigits(from start: Int) throws(SyntaxFailure) -> Int {
        guard isDigit(self[start]) else { throw expectedDigit(at: start) }
        var position = start + 1
        while isDigit(self[position]) { position += 1 }
        return position
    }

    private func expectedDigit(at position: Int) -> SyntaxFailure {
        failure(
            at: position,
            "Invalid number, expected digit but got: \(source.describeCharacter(at: position)).")
    }
}

func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

func isNameStart(_ byte: UInt8) -> Bool {
    (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "_")
}
