/// Validates text that a user has typed. White space at both ends is removed. Text without a visible character
/// counts as empty. Text that is too long is rejected, not truncated.
package enum TextInput {
    /// Returns the trimmed text.
    ///
    /// - Throws: `.badUserInput` if it is empty, too long, or contains a NUL character.
    package static func line(
        _ text: String, field: String, charactersMax: Int
    ) throws(BookplateError) -> String {
        let trimmed = try self.text(text, field: field, charactersMax: charactersMax)
        guard !trimmed.isEmpty else {
            throw .badUserInput(field: field, .init(.empty))
        }
        return trimmed
    }

    /// Returns the trimmed text; nil if it is empty.
    ///
    /// - Throws: `.badUserInput` if it is too long or contains a NUL character.
    package static func optional(
        _ text: String?, field: String, charactersMax: Int
    ) throws(BookplateError) -> String? {
        guard let text else { return nil }
        let trimmed = try self.text(text, field: field, charactersMax: charactersMax)
        return trimmed.isEmpty ? nil : trimmed
    }

    private static func text(
        _ text: String, field: String, charactersMax: Int
    ) throws(BookplateError) -> String {
        // Counts Unicode scalars, like PostgreSQL. White space that is removed may exceed the maximum by 100.
        guard hasAtMost(charactersMax + 100, in: text) else {
            throw tooLong(field, charactersMax)
        }
        guard !text.utf8.contains(0) else {
            throw .badUserInput(field: field, .init(.invalidCharacter))
        }
        let scalars = text.unicodeScalars
        guard scalars.contains(where: isVisible),
            let start = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let end = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        let trimmed = String(scalars[start...end])
        guard hasAtMost(charactersMax, in: trimmed) else { throw tooLong(field, charactersMax) }
        return trimmed
    }

    /// Whether a text has at most `charactersMax` Unicode scalars. There are not more of them than bytes, which need not be counted.
    private static func hasAtMost(_ charactersMax: Int, in text: String) -> Bool {
        text.utf8.count <= charactersMax || text.unicodeScalars.count <= charactersMax
    }

    /// Whether a scalar is neither white space nor a mark that changes other characters, such as U+200B.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        !scalar.properties.isWhitespace && !scalar.properties.isDefaultIgnorableCodePoint
            && scalar.properties.generalCategory != .control
    }

    private static func tooLong(_ field: String, _ charactersMax: Int) -> BookplateError {
        .badUserInput(field: field, .init(.tooLong, max: charactersMax))
    }
}
