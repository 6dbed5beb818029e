/// Text that a person typed: trimmed, and within its limits, or refused; never cut.
enum TextInput {
    /// Text of one line that may not be empty.
    ///
    /// - Throws: `.badUserInput` when it is empty after trimming, too long, or has a NUL.
    static func line(
        _ text: String, field: String, charactersMax: Int
    ) throws(BookplateError) -> String {
        let trimmed = try self.text(text, field: field, charactersMax: charactersMax)
        guard !trimmed.isEmpty else {
            throw .badUserInput(field: field, "\(name(field)) may not be empty.")
        }
        return trimmed
    }

    /// Text that may be cleared: nil for what is empty after trimming.
    static func optional(
        _ text: String?, field: String, charactersMax: Int
    ) throws(BookplateError) -> String? {
        guard let text else { return nil }
        let trimmed = try self.text(text, field: field, charactersMax: charactersMax)
        return trimmed.isEmpty ? nil : trimmed
    }

    private static func text(
        _ text: String, field: String, charactersMax: Int
    ) throws(BookplateError) -> String {
        // PostgreSQL counts scalars, and so do we.
        guard text.unicodeScalars.count <= charactersMax + 100 else {
            throw tooLong(field, charactersMax)
        }
        let scalars = text.unicodeScalars
        guard !scalars.contains("\0") else {
            throw .badUserInput(field: field, "\(name(field)) holds a character that is not text.")
        }
        guard let start = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let end = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        let trimmed = String(String.UnicodeScalarView(scalars[start...end]))
        guard trimmed.unicodeScalars.count <= charactersMax else {
            throw tooLong(field, charactersMax)
        }
        return trimmed
    }

    private static func tooLong(_ field: String, _ charactersMax: Int) -> BookplateError {
        .badUserInput(
            field: field, "\(name(field)) may have at most \(charactersMax) characters.")
    }

    /// `displayName` as `Display name`.
    private static func name(_ field: String) -> String {
        var name = ""
        for character in field.split(separator: ".").last ?? "" {
            name +=
                character.isUppercase && !name.isEmpty
                ? " \(character.lowercased())" : "\(character)"
        }
        return name.prefix(1).uppercased() + name.dropFirst()
    }
}
