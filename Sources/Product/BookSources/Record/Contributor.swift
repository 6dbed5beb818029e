/// The role of a person in the making of a book. The raw values are those of the API and of the database.
package enum AuthorRole: String, Sendable, Hashable, CaseIterable {
    case author = "AUTHOR"
    case editor = "EDITOR"
    case translator = "TRANSLATOR"
    case illustrator = "ILLUSTRATOR"
    case narrator = "NARRATOR"
    case contributor = "CONTRIBUTOR"

    /// The number of the role in the ids of authors. It never changes.
    package var number: UInt64 {
        switch self {
        case .author: 0
        case .editor: 1
        case .translator: 2
        case .illustrator: 3
        case .narrator: 4
        case .contributor: 5
        }
    }

    /// Reads the words with which a catalog describes a role, such as `Illustrator` or `Narrator, Reader`. Nil if none of them
    /// is known.
    package init?(words: some StringProtocol) {
        let words = folded(String(words))
        // The first entry that applies counts: the author of an introduction is a contributor.
        let known: [(AuthorRole, [String])] = [
            (
                .contributor,
                ["introduction", "foreword", "preface", "afterword", "cover", "contrib"]
            ),
            (.translator, ["translat", "traduc", "ubersetz"]),
            (.illustrator, ["illustrat", "drawing"]), (.narrator, ["narrat", "reader", "read by"]),
            (.editor, ["editor", "edited", "ed"]), (.author, ["author", "writer"]),
            (.contributor, ["performer", "photograph", "compiler", "adapt", "designer"]),
        ]
        let role = known.first { _, beginnings in
            beginnings.contains { beginning in
                beginning.count < 3
                    ? words == beginning : " \(words)".contains(" \(beginning)")
            }
        }
        guard let role else { return nil }
        self = role.0
    }
}

/// A person who wrote a book or contributed to it, with the role.
package struct Contributor: Sendable, Hashable {
    package var name: String
    package var role: AuthorRole

    package init(name: String, role: AuthorRole = .author) {
        self.name = name
        self.role = role
    }

    /// Reads a name that may be followed by a role in parentheses: `Tony Ross (Illustrator)`. Other parentheses are a part of
    /// the name.
    package init(labeled text: String) {
        if text.last == ")", let start = text.lastIndex(of: "("),
            let role = AuthorRole(words: text[text.index(after: start)...].dropLast())
        {
            self.init(name: trimmed(text[..<start]), role: role)
        } else {
            self.init(name: text)
        }
    }

    /// Reads one name of a catalog, which may have the family name first, and a role after it: `Ross, Tony (Illustrator)`.
    package init(catalog text: String) {
        self.init(labeled: text)
        name = Self.givenNameFirst(name)
    }

    /// Reads the names that a catalog has in one text: `Vonnegut, Kurt, Jr.; Davis, Arthur, III`, `Le Guin, Ursula K.`, or
    /// `J.K. Rowling, Mary GrandPré (Illustrator)`.
    package static func catalogList(_ text: String) -> [Contributor] {
        let names = text.split(separator: ";").map(trimmed).filter { !$0.isEmpty }
        guard names.count < 2, let text = names.first else {
            return names.map { Contributor(catalog: $0) }
        }
        let parts = list(text)
        // `Coelho, Paulo` and `Le Guin, Ursula K.` are one person, `Homer, Robert Fagles` and `Alejandro Jodorowsky, Mœbius` two.
        let isInverted =
            parts.count == 2 && isGivenName(parts[1].name)
            && (parts[1].name.last == "." || !parts[0].name.contains(where: \.isWhitespace))
        return isInverted ? [Contributor(catalog: text)] : parts
    }

    /// Whether the text is a single word, or ends with an initial.
    private static func isGivenName(_ text: String) -> Bool {
        !text.contains(where: \.isWhitespace)
            || text.last == "." && text.dropLast().last?.isUppercase == true
    }

    /// Reads a list of names with commas between them. Only a name with a suffix, such as `Vonnegut, Kurt, Jr.`, may have its family
    /// name first.
    package static func list(_ text: String) -> [Contributor] {
        commaSeparated(text).map { Contributor(labeled: $0) }.filter { !$0.name.isEmpty }
    }

    /// Splits the authors that a person has written into one text. A text that may be the name of one author, such as
    /// `Le Guin, Ursula K.` or `Smith and Sons`, is not split.
    package static func authors(_ text: String) -> [Contributor] {
        var names = text.split(separator: ";").map(trimmed).filter { !$0.isEmpty }
        if names.count < 2 { names = conjoined(text) ?? [trimmed(text[...])] }
        return names.filter { !$0.isEmpty }.map { Contributor(name: $0) }
    }

    /// Splits `A. Bee, C. Dee & E. Eff`. Nil if the parts do not look like names of persons.
    private static func conjoined(_ text: String) -> [String]? {
        let parts = text.split(separator: /,?\s+(?:&|and)\s+/).map(trimmed)
        guard parts.count > 1 else { return nil }
        let names = parts.flatMap { part in
            let names = commaSeparated(part)
            return names.allSatisfy(isFullName) ? names : [part]
        }
        return names.allSatisfy(isFullName) ? names : nil
    }

    /// Splits at commas outside parentheses. `Jr.` and the like belong to the name before the comma. A single word before that name
    /// is its family name: `Vonnegut, Kurt, Jr.` is Kurt Vonnegut, Jr.
    private static func commaSeparated(_ text: String) -> [String] {
        var names: [String] = []
        for part in commaParts(text) {
            if isSuffix(part), let given = names.popLast() {
                if let family = names.last, !family.contains(where: \.isWhitespace),
                    !given.contains(",")
                {
                    names[names.count - 1] = givenNameFirst("\(family), \(given), \(part)")
                } else {
                    names.append("\(given), \(part)")
                }
            } else {
                names.append(part)
            }
        }
        return names
    }

    /// Words in lower case that are parts of names.
    private static let particles: Set = [
        "af", "al", "bin", "da", "de", "del", "della", "den", "der", "di", "dos", "du", "el", "ibn",
        "la", "le", "of", "ten", "ter", "van", "von", "y", "zu",
    ]
    private static let organizations: Set = [
        "association", "center", "centre", "committee", "company", "council", "department",
        "editors", "foundation", "institute", "museum", "press", "society", "sons", "staff",
        "university",
    ]

    /// Whether the text has a given name and a family name, and is not the name of an organization.
    private static func isFullName(_ text: String) -> Bool {
        let words = text.split(whereSeparator: \.isWhitespace)
        return words.count > 1
            && words.allSatisfy { word in
                let isName = word.first?.isLowercase != true || particles.contains(String(word))
                return isName && !organizations.contains(folded(String(word)))
            }
    }
}
