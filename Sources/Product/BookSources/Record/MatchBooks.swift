/// The comparison of records by ISBN, title, and author.
extension BookRecord {
    /// Whether the records have an ISBN in common, or the same title and main author.
    func isSameBook(as other: BookRecord) -> Bool {
        if isbns.contains(where: other.isbns.contains) { return true }
        guard let author = authors.first, let otherAuthor = other.authors.first else {
            return false
        }
        return folded(title) == folded(other.title)
            && familyName(author) == familyName(otherAuthor)
    }

    /// Whether this is probably the book with the title and author.
    func isLikely(title expected: String, author: String) -> Bool {
        let titles = [folded(title), folded(title + " " + (subtitle ?? ""))]
        let name = familyName(author)
        return titles.contains(folded(expected)) && !name.isEmpty
            && authors.contains { familyName($0) == name }
    }
}

/// Normalizes a title, so that the titles of a book in two catalogs are equal.
///
/// Keeps only letters and digits, in lower case and without diacritics. Removes a leading article and text in brackets.
func folded(_ text: String) -> String {
    let bare = text.replacing(/\([^)]*\)|\[[^\]]*\]/, with: "").replacing("&", with: " and ")
    var words = [""]
    for scalar in bare.lowercased().unicodeScalars {
        switch scalar {
        case "'", "’": continue
        case _ where scalar.properties.isAlphabetic || scalar.properties.numericType != nil:
            words[words.count - 1] += withoutDiacritic(scalar)
        // A combining mark modifies the letter before it, so it does not end the word.
        case _ where scalar.properties.generalCategory == .nonspacingMark: continue
        default: words.append("")
        }
    }
    words.removeAll { $0.isEmpty }
    if words.count > 1, ["the", "a", "an"].contains(words[0]) { words.removeFirst() }
    return words.joined(separator: " ")
}

/// Returns `e` for `é`. The base letter is taken from the Unicode name: LATIN SMALL LETTER E WITH ACUTE.
private func withoutDiacritic(_ scalar: Unicode.Scalar) -> String {
    let words = scalar.isASCII ? [] : scalar.properties.name?.split(separator: " ") ?? []
    guard words.count > 4, words[..<3] == ["LATIN", "SMALL", "LETTER"], words[4] == "WITH" else {
        return String(scalar)
    }
    return words[3].lowercased()
}

/// Returns the family name: the last word of a name, or of the part before a comma as in "Le Guin, Ursula".
func familyName(_ name: String) -> String {
    let family = name.prefix { $0 != "," }
    return folded(String(family)).split(separator: " ").last.map { String($0) } ?? ""
}
