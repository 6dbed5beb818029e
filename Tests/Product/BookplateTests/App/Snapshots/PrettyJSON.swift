import GraphQL

/// Returns JSON with one member or item per line. Objects and lists that are empty stay on one line.
func prettyJSON(_ value: Value, indent: String = "") -> String {
    func block(_ open: String, _ items: [String], _ close: String) -> String {
        guard !items.isEmpty else { return open + close }
        return "\(open)\n"
            + items.map { "\(indent)  \($0)" }.joined(separator: ",\n") + "\n\(indent)\(close)"
    }
    switch value {
    case .object(let members):
        return block(
            "{",
            members.map { "\"\($0.name)\": \(prettyJSON($0.value, indent: indent + "  "))" }, "}")
    case .list(let items):
        return block("[", items.map { prettyJSON($0, indent: indent + "  ") }, "]")
    default:
        var writer = ResponseWriter()
        writer.write(value)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
