import Basics

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
        suggestion = similarName(to: name, among: known, editsMax: editsMax)
    }
}
