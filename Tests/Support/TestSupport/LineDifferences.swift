/// Returns the removed and added lines, each with up to two unchanged lines before and after it.
package func lineDifferences(from old: String, to new: String) -> String {
    let oldLines = old.split(separator: "\n", omittingEmptySubsequences: false)
    let newLines = new.split(separator: "\n", omittingEmptySubsequences: false)
    let difference = newLines.difference(from: oldLines)
    var removed: Set<Int> = []
    var inserted: Set<Int> = []
    for change in difference {
        switch change {
        case .remove(let offset, _, _): removed.insert(offset)
        case .insert(let offset, _, _): inserted.insert(offset)
        }
    }
    var lines: [String] = []
    var (oldIndex, newIndex) = (0, 0)
    while oldIndex < oldLines.count || newIndex < newLines.count {
        if removed.contains(oldIndex) {
            lines.append("- \(oldLines[oldIndex])")
            oldIndex += 1
        } else if inserted.contains(newIndex) {
            lines.append("+ \(newLines[newIndex])")
            newIndex += 1
        } else {
            lines.append("  \(newLines[newIndex])")
            oldIndex += 1
            newIndex += 1
        }
    }
    return lines.indices.filter { index in
        lines[max(0, index - 2)...min(lines.count - 1, index + 2)].contains { !$0.hasPrefix("  ") }
    }.map { lines[$0] }.joined(separator: "\n")
}
