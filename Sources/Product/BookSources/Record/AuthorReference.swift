/// An author in a record: the path of the author's record at Open Library, such as `/authors/OL34184A`, or a name.
package enum AuthorReference: Hashable {
    case key(String)
    case name(String)

    /// Reads one author in any of the forms that sources use: `{"key": "/authors/OL1A"}`, `{"author": {"key": "/authors/OL1A"}}`,
    /// `{"author": "/authors/OL1A"}`, `"/authors/OL1A"`, a name, or an object with a name.
    ///
    /// - Parameter prefersName: Whether to return the name of an object that has both a name and a key.
    package init?(_ json: JSON, prefersName: Bool = false) {
        let keys = ["author", "key", "url"]
        let names = ["name", "personal_name"]
        self.init(json, members: prefersName ? names + keys : keys + names, depth: 0)
    }

    private init?(_ json: JSON, members: [String], depth: Int) {
        var found: AuthorReference?
        switch json {
        case .string(let text): found = Self.reference(text)
        case .object where depth < 4:
            for member in members where found == nil {
                found = json[member].flatMap { Self($0, members: members, depth: depth + 1) }
            }
        case .array(let items) where depth < 4:
            for item in items where found == nil {
                found = Self(item, members: members, depth: depth + 1)
            }
        default: break
        }
        guard let found else { return nil }
        self = found
    }

    private static func reference(_ text: String) -> AuthorReference? {
        if let path = OpenLibrary.key(in: text) {
            return path.hasPrefix("/authors/") ? .key(path) : nil
        }
        if text.hasPrefix("OL"), text.wholeMatch(of: /OL[0-9]{1,15}A/) != nil {
            return .key("/authors/\(text)")
        }
        // Another path, such as that of the type of the record.
        return text.hasPrefix("/") ? nil : plainLine(text).map { .name($0) }
    }
}
