/// Returns a value as text for an error message, in the format of graphql-js: JSON with spaces,
/// with at most ten items of a list and two levels of nesting.
///
/// The text is cut off with an ellipsis after `inspectedBytesMax` bytes, so an error message never
/// repeats a large request.
func inspect(_ value: Value) -> String {
    var text = ""
    append(value, to: &text, depth: 0)
    return shortened(text)
}

/// Returns text from the request for an error message, cut off with an ellipsis after
/// `inspectedBytesMax` bytes.
func shortened(_ text: String) -> String {
    guard text.utf8.count > inspectedBytesMax else { return text }
    var cut = ""
    for scalar in text.unicodeScalars {
        guard cut.utf8.count < inspectedBytesMax else { break }
        cut.unicodeScalars.append(scalar)
    }
    return cut + "…"
}

/// Returns an error message that may quote names and values of the request. If it is longer than `messageBytesMax` bytes, only its
/// beginning and its end are left.
func shortenedMessage(_ message: String) -> String {
    guard message.utf8.count > messageBytesMax else { return message }
    return shortened(message) + String(String.UnicodeScalarView(message.unicodeScalars.suffix(100)))
}

private let inspectedBytesMax = 1_000
/// More than the beginning and the end of a longer message.
private let messageBytesMax = 1_500
private let inspectedItemsMax = 10
private let inspectedDepthMax = 2

private func append(_ value: Value, to text: inout String, depth: Int) {
    // The rest would be cut off.
    guard text.utf8.count <= inspectedBytesMax else { return }
    switch value {
    case .null: text += "null"
    case .boolean(let value): text += value ? "true" : "false"
    case .int(let number): text += String(number)
    case .bigInt(let digits): text += digits
    case .float(let number): text += inspect(number)
    case .string(let string): appendQuoted(string, to: &text)
    case .list(let items):
        if items.isEmpty { return text += "[]" }
        if depth >= inspectedDepthMax { return text += "[Array]" }
        text += "["
        for (index, item) in items.prefix(inspectedItemsMax).enumerated() {
            if index > 0 { text += ", " }
            append(item, to: &text, depth: depth + 1)
        }
        switch items.count - inspectedItemsMax {
        case ...0: break
        case 1: text += ", ... 1 more item"
        case let more: text += ", ... \(more) more items"
        }
        text += "]"
    case .object(let members):
        if members.isEmpty { return text += "{}" }
        if depth >= inspectedDepthMax { return text += "[Object]" }
        text += "{ "
        for (index, member) in members.enumerated() {
            guard text.utf8.count <= inspectedBytesMax else { return }
            if index > 0 { text += ", " }
            text += member.name + ": "
            append(member.value, to: &text, depth: depth + 1)
        }
        text += " }"
    }
}

/// Returns a number in JavaScript's format: without a fraction for integers, and `1e-7`, `1e+21`,
/// or `Infinity`.
private func inspect(_ number: Double) -> String {
    if number.isNaN { return "NaN" }
    if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
    if let integer = Int(exactly: number) { return String(integer) }
    let text = String(describing: number)
    let parts = text.split(separator: "e", maxSplits: 1)
    guard parts.count == 2, let exponent = Int(parts[1]) else { return text }
    let mantissa = parts[0].hasSuffix(".0") ? parts[0].dropLast(2) : parts[0]
    return "\(mantissa)e\(exponent < 0 ? "-" : "+")\(exponent.magnitude)"
}

private func appendQuoted(_ string: String, to text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
        guard text.utf8.count <= inspectedBytesMax else { return }
        switch scalar {
        case "\"": text += "\\\""
        case "\\": text += "\\\\"
        case "\n": text += "\\n"
        case "\r": text += "\\r"
        case "\t": text += "\\t"
        case "\u{8}": text += "\\b"
        case "\u{C}": text += "\\f"
        case "\u{0}"..<" ":
            let digits = String(scalar.value, radix: 16)
            text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: text.unicodeScalars.append(scalar)
        }
    }
    text += "\""
}

/// Returns a path inside a value for an error message: `.books[0].title`.
func describe(_ path: [GraphQLError.PathElement]) -> String {
    path.map { element in
        switch element {
        case .key(let name): ".\(name)"
        case .index(let index): "[\(index)]"
        }
    }.joined()
}
