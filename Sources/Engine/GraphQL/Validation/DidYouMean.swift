/// Returns ` Did you mean "a", "b", or "c"?` with at most five names, preceded by `lead` if there
/// is one. Returns an empty string if there are no names.
func didYouMean(_ names: [String], lead: String? = nil) -> String {
    guard !names.isEmpty else { return "" }
    let quoted = names.prefix(5).map { "\"\($0)\"" }
    let list =
        switch quoted.count {
        case 1: quoted[0]
        case 2: "\(quoted[0]) or \(quoted[1])"
        default: quoted.dropLast().joined(separator: ", ") + ", or " + quoted[quoted.count - 1]
        }
    return " Did you mean " + (lead.map { $0 + " " } ?? "") + list + "?"
}

/// Returns the options that are similar to `input`, the most similar first.
///
/// An option is similar if its edit distance is at most 40 % of the length of `input` plus one. A
/// difference only in case counts as one edit.
func suggestionList(_ input: String, _ options: [String]) -> [String] {
    let distance = LexicalDistance(to: input)
    let editsMax = input.utf8.count * 2 / 5 + 1
    var near: [(option: String, edits: Int)] = []
    for option in options where !near.contains(where: { $0.option == option }) {
        if let edits = distance.measure(option, editsMax: editsMax) { near.append((option, edits)) }
    }
    return near.sorted {
        $0.edits != $1.edits ? $0.edits < $1.edits : naturallyPrecedes($0.option, $1.option)
    }.map(\.option)
}

/// The Damerau–Levenshtein distance from a fixed input: the number of insertions, deletions,
/// replacements, and swaps of adjacent bytes.
private struct LexicalDistance {
    private let input: [UInt8]
    private let inputLowercased: [UInt8]

    init(to input: String) {
        self.input = Array(input.utf8)
        inputLowercased = self.input.map(lowercased)
    }

    /// Returns the number of edits, or nil if it exceeds `editsMax`.
    func measure(_ option: String, editsMax: Int) -> Int? {
        let bytes = Array(option.utf8)
        if bytes == input { return 0 }
        let lower = bytes.map(lowercased)
        if lower == inputLowercased { return 1 }
        let (long, short) =
            lower.count < inputLowercased.count
            ? (inputLowercased, lower) : (lower, inputLowercased)
        guard long.count - short.count <= editsMax else { return nil }

        var beforeLast: [Int] = []
        var last = Array(0...short.count)
        for row in 1...long.count {
            var current = [row]
            current.reserveCapacity(short.count + 1)
            var smallest = row
            for column in 0..<short.count {
                let replacement = last[column] + (long[row - 1] == short[column] ? 0 : 1)
                var cell = min(last[column + 1] + 1, current[column] + 1, replacement)
                let isSwap =
                    row > 1 && column > 0 && long[row - 1] == short[column - 1]
                    && long[row - 2] == short[column]
                if isSwap { cell = min(cell, beforeLast[column - 1] + 1) }
                smallest = min(smallest, cell)
                current.append(cell)
            }
            guard smallest <= editsMax else { return nil }
            (beforeLast, last) = (last, current)
        }
        return last[short.count] <= editsMax ? last[short.count] : nil
    }
}

/// Compares names in natural order, in which digits are compared as numbers: `b2` precedes `b10`.
func naturallyPrecedes(_ left: String, _ right: String) -> Bool {
    var left = Array(left.utf8)[...]
    var right = Array(right.utf8)[...]
    while let first = left.first, let second = right.first {
        if isDigit(first), isDigit(second) {
            let (number, other) = (takeNumber(&left), takeNumber(&right))
            if number.count != other.count { return number.count < other.count }
            if number != other { return number.lexicographicallyPrecedes(other) }
        } else {
            if first != second { return first < second }
            left.removeFirst()
            right.removeFirst()
        }
    }
    return left.count < right.count
}

/// Removes the leading digits and returns them without leading zeros.
private func takeNumber(_ text: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let digits = text.prefix(while: isDigit)
    text.removeFirst(digits.count)
    return digits.drop { $0 == UInt8(ascii: "0") }
}

private func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
}
