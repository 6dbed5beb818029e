/// A variable whose name starts with `BOOKPLATE_` but is not a setting of this version. It is ignored.
package struct UnknownVariable: Sendable, Equatable, CustomStringConvertible {
    package var name: String
    /// The known variable with the most similar name, or nil if none is similar.
    package var suggestion: String?

    package var description: String {
        "\(name) is not a known variable and is ignored."
            + (suggestion.map { " Did you mean \($0)?" } ?? "")
    }

    init(_ name: String, among known: Set<String>) {
        self.name = name
        let rest = name.dropFirst(Variables.prefix.count)
        // BOOKPLATE_DATABASE_URL is probably meant to be DATABASE_URL.
        if known.contains(String(rest)) {
            suggestion = String(rest)
            return
        }
        let editsMax = max(2, rest.count / 3)
        suggestion =
            known.map { (name: $0, edits: editCount($0, name)) }
            .filter { $0.edits <= editsMax }
            .min { ($0.edits, $0.name) < ($1.edits, $1.name) }?.name
    }
}

/// The number of inserted, deleted, and replaced bytes that turn one name into the other (Levenshtein distance).
private func editCount(_ left: String, _ right: String) -> Int {
    let right = Array(right.utf8)
    var row = Array(0...right.count)
    for (index, byte) in left.utf8.enumerated() {
        var diagonal = row[0]
        row[0] = index + 1
        for column in right.indices {
            let replaced = diagonal + (byte == right[column] ? 0 : 1)
            diagonal = row[column + 1]
            row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
        }
    }
    return row[right.count]
}
