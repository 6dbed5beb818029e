/// Returns a statement with each clause of each query on its own line.
///
/// Clauses of a subquery are indented by two spaces. Parentheses that do not contain a query, such as the arguments of
/// a function, stay on one line.
///
/// - Parameter text: a statement on one line, as `Statement.text`.
func formatSQL(_ text: String) -> String {
    let clauses: Set<Substring> = [
        "WITH", "SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "UNION",
        "JOIN",
        "LEFT", "CROSS", "INSERT", "VALUES", "UPDATE", "SET", "DELETE", "ON", "RETURNING",
    ]
    // Pairs of words of which the second one does not start a clause.
    let continuations: Set<[Substring]> = [
        ["DISTINCT", "FROM"], ["DELETE", "FROM"], ["LEFT", "JOIN"], ["CROSS", "JOIN"],
        ["FOR", "UPDATE"], ["KEY", "UPDATE"], ["DO", "UPDATE"],
    ]
    let tokens = text.matches(of: /'[^']*'|\w+|\s+|./).map(\.0)
    let words = tokens.filter { $0.first != " " } + [""]
    var lines = [""]
    /// Contains true for each open parenthesis that contains a query, and false for the others.
    var parentheses: [Bool] = []
    func startLine() {
        let indent = String(repeating: "  ", count: parentheses.count { $0 })
        if lines.last?.allSatisfy({ $0 == " " }) == true { lines.removeLast() }
        lines.append(indent)
    }
    var index = 0
    for token in tokens {
        guard token.first != " " else {
            if lines.last?.allSatisfy({ $0 == " " }) == false { lines[lines.count - 1] += " " }
            continue
        }
        let next = words[index + 1]
        if clauses.contains(token), parentheses.last ?? true,
            index == 0 || !continuations.contains([words[index - 1], token]),
            token != "ON" || next == "CONFLICT", token != "WITH" || next != "ORDINALITY"
        {
            startLine()
        }
        switch token {
        case "(":
            parentheses.append(["SELECT", "WITH", "INSERT", "UPDATE", "DELETE"].contains(next))
        case ")":
            if parentheses.popLast() == true { startLine() }
        default: break
        }
        lines[lines.count - 1] += token
        index += 1
    }
    return lines.map { line in
        String(line.reversed().drop { $0 == " " }.reversed())
    }.joined(separator: "\n")
}
