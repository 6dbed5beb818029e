/// The sentences of errors in one language. `{field}`, `{min}`, `{max}`, `{value}`, and `{seconds}` are replaced.
///
/// Errors that only the developer of an app can correct are always in English: a document that is not valid, a value of the wrong
/// type, and missing scopes.
struct ErrorTexts: Sendable {
    /// A language tag (BCP 47).
    let language: String
    /// The text between groups of three digits in numbers.
    let groupSeparator: String
    let decimalSeparator: String
    let signIn: String
    let tooManyRequests: String
    let notDone: String
    let unknownOutcome: String
    let storageFull: String
    let resetRequired: String
    let internalError: String
    /// Returns the sentence of a reason.
    let text: @Sendable (ErrorReason) -> String

    /// All languages. The first one is for clients that prefer none of them.
    static let all = [english, german, french, spanish, japanese]

    /// Returns the texts in the language with the highest weight in a header `Accept-Language`.
    static func preferred(by header: String?) -> ErrorTexts {
        for tag in AcceptLanguage.tags(header) {
            let language = tag.prefix { $0 != "-" }.lowercased()
            if let texts = all.first(where: { $0.language == language }) { return texts }
        }
        return english
    }

    /// Returns the sentence of a problem.
    func sentence(_ problem: InputProblem, field: String?) -> String {
        if let detail = problem.detail, language == "en" { return detail }
        return fill(
            text(problem.reason),
            [
                ("field", field.map(Self.name) ?? "It"), ("min", problem.min.map(number) ?? ""),
                ("max", problem.max.map(number) ?? ""), ("value", problem.value ?? ""),
            ])
    }

    /// Returns a sentence with a number of seconds.
    func sentence(_ text: String, seconds: Int) -> String {
        fill(text, [("seconds", number(Double(seconds)))])
    }

    /// Replaces each placeholder once. Values are not searched for placeholders, because they come from readers.
    private func fill(_ text: String, _ values: [(name: String, text: String)]) -> String {
        var result = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            result += rest[..<open]
            let name = rest[rest.index(after: open)..<close]
            result += values.first { $0.name == name }?.text ?? String(rest[open...close])
            rest = rest[rest.index(after: close)...]
        }
        return result + rest
    }

    /// Returns a number with at most two digits after the decimal separator. Numbers of more than four digits are grouped: years are not.
    private func number(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        let digits = Array(String(abs(hundredths) / 100))
        var text = hundredths < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, digits.count > 4, (digits.count - index).isMultiple(of: 3) {
                text += groupSeparator
            }
            text.append(digit)
        }
        let fraction = abs(hundredths) % 100
        if fraction == 0 { return text }
        let tens = fraction / 10
        return text + decimalSeparator + "\(tens)"
            + (fraction.isMultiple(of: 10) ? "" : "\(fraction % 10)")
    }

    /// Returns the name of a field for English sentences: `Display name` for `displayName`.
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

/// The header `Accept-Language`.
///
/// Spec: RFC 9110, section 12.5.4
package enum AcceptLanguage {
    /// Returns the language tags by descending weight. Ignores malformed entries, and entries with the weight 0.
    package static func tags(_ header: String?) -> [String] {
        var entries: [(text: String, weight: Double, index: Int)] = []
        // A character can have thousands of bytes.
        let text = String(decoding: (header ?? "").utf8.prefix(1_000), as: UTF8.self)
        for (index, entry) in text.split(separator: ",").prefix(50).enumerated() {
            let parts = entry.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            guard let text = parts.first, let weight = weight(parts.dropFirst().first), weight > 0
            else { continue }
            entries.append((text, weight, index))
        }
        entries.sort { ($1.weight, $0.index) < ($0.weight, $1.index) }
        return entries.map(\.text)
    }

    /// Returns the weight of a parameter such as `q=0.8`, 1 without a parameter, and nil if it is malformed.
    private static func weight(_ parameter: String?) -> Double? {
        guard let parameter else { return 1 }
        guard parameter.hasPrefix("q="), let weight = Double(parameter.dropFirst(2)),
            (0...1).contains(weight)
        else { return nil }
        return weight
    }
}
