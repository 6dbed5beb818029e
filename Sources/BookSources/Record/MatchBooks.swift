/// Which records are of one book, judged by words alone.
extension BookRecord {
    /// The same number, or the same title and main author.
    func isSameBook(as other: BookRecord) -> Bool {
        if isbns.contains(where: other.isbns.contains) { return true }
        guard let author = authors.first, let otherAuthor = other.authors.first else {
            return false
        }
        return folded(title) == folded(other.title)
            && familyName(author) == familyName(otherAuthor)
    }

    /// Whether this is, as far as words tell, the book of that title by that author.
    func isLikely(title wanted: String, author: String) -> Bool {
        let titles = [folded(title), folded(title + " " + (subtitle ?? ""))]
        let name = familyName(author)
        return titles.contains(folded(wanted)) && !name.isEmpty
            && authors.contains { familyName($0) == name }
    }
}

/// Letters and digits in lower case without marks, a leading article and what stands in brackets
/// dropped: what two catalogues have in common of one title.
func folded(_ text: String) -> String {
    let bare = text.replacing(/\([^)]*\)|\[[^\]]*\]/, with: "").replacing("&", with: " and ")
    var words = [""]
    for scalar in bare.lowercased().unicodeScalars {
        switch scalar {
        case "'", "’": continue
        case _ where scalar.properties.isAlphabetic || scalar.properties.numericType != nil:
            words[words.count - 1] += withoutMark(scalar)
        // A mark by itself belongs to the letter before it.
        case _ where scalar.properties.generalCategory == .nonspacingMark: continue
        default: words.append("")
        }
    }
    words.removeAll { $0.isEmpty }
    if words.count > 1, ["the", "a", "an"].contains(words[0]) { words.removeFirst() }
    return words.joined(separator: " ")
}

/// `e` of `é`, by the name of the letter: LATIN SMALL LETTER E WITH ACUTE.
private func withoutMark(_ scalar: Unicode.Scalar) -> String {
    let words = scalar.isASCII ? [] : scalar.properties.name?.split(separator: " ") ?? []
    guard words.count > 4, words[..<3] == ["LATIN", "SMALL", "LETTER"], words[4] == "WITH" else {
        return String(scalar)
    }
    return words[3].lowercased()
}

/// The last word of a name, or of what stands before the comma in "Le Guin, Ursula".
func familyName(_ name: String) -> String {
    let family = name.prefix { $0 != "," }
    return folded(String(family)).split(separator: " ").last.map { String($0) } ?? ""
}
