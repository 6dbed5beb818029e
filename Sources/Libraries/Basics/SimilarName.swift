/// Returns the most similar of the known names, for messages such as "did you mean …?".
///
/// - Parameter editsMax: The maximum number of inserted, deleted, and replaced bytes.
/// - Returns: nil if no name is similar enough. Of equally similar names, the first in alphabetical order.
package func similarName(
    to name: String, among known: some Sequence<String>, editsMax: Int
) -> String? {
    known.map { (name: $0, edits: editCount($0, name)) }
        .filter { $0.edits <= editsMax }
        .min { ($0.edits, $0.name) < ($1.edits, $1.name) }?.name
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
