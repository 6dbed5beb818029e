/// Values that several formats have.
extension ImportFields {
    /// Returns a reading with a start, an end, or both; nil if neither is a date.
    func read(from start: some StringProtocol, to end: some StringProtocol, of name: String)
        -> ImportedRead?
    {
        read(from: start, name, to: end, name)
    }

    func read(
        from start: some StringProtocol, _ startName: String, to end: some StringProtocol,
        _ endName: String
    ) -> ImportedRead? {
        var startedOn = pastDate(start, of: startName)
        let finishedOn = pastDate(end, of: endName)
        if let first = startedOn, let finishedOn, finishedOn.isBefore(first) {
            report(
                startName,
                "“\(first.text)” is after the end of the reading, “\(finishedOn.text)”. It was left out."
            )
            startedOn = nil
        }
        guard startedOn != nil || finishedOn != nil else { return nil }
        return ImportedRead(
            startedOn: startedOn, finishedOn: finishedOn,
            outcome: finishedOn == nil ? .reading : .finished)
    }

    /// Returns the text of private notes without markup.
    func notes(_ name: String) -> String? {
        short(plainText(ofHTML: raw(name)), name, max: ImportedBook.notesCharactersMax)
    }

    func moods(_ name: String) -> [String] {
        Array(names(name, max: BookCreation.labelCharactersMax).prefix(ImportedBook.moodsMax))
    }

    /// Returns the language tag of the first language of a cell, which may be a tag, a code of ISO 639, or an English name.
    func language(_ name: String) -> String? {
        guard let text = raw(name).split(separator: ",").first?.trimmed, !text.isEmpty else {
            return nil
        }
        let lowercased = text.lowercased()
        if let tag = Self.languages.first(where: { $0.names.contains(lowercased) })?.tag {
            return tag
        }
        guard let tag = BookFacts.languageTag(text) else {
            report(name, "“\(text.prefix(40))” is not a known language. It was left out.")
            return nil
        }
        return tag
    }

    /// Languages with the names and the codes of three letters that exports use for them:
    /// https://www.loc.gov/standards/iso639-2/php/code_list.php
    private static let languages: [(tag: String, names: [String])] = [
        ("ar", ["arabic", "ara"]), ("bg", ["bulgarian", "bul"]), ("ca", ["catalan", "cat"]),
        ("cs", ["czech", "cze", "ces"]), ("da", ["danish", "dan"]),
        ("de", ["german", "ger", "deu"]), ("el", ["greek", "gre", "ell"]),
        ("en", ["english", "eng"]), ("es", ["spanish", "spa"]), ("et", ["estonian", "est"]),
        ("fi", ["finnish", "fin"]), ("fr", ["french", "fre", "fra"]), ("he", ["hebrew", "heb"]),
        ("hi", ["hindi", "hin"]), ("hr", ["croatian", "hrv"]), ("hu", ["hungarian", "hun"]),
        ("id", ["indonesian", "ind"]), ("is", ["icelandic", "ice", "isl"]),
        ("it", ["italian", "ita"]), ("ja", ["japanese", "jpn"]), ("ko", ["korean", "kor"]),
        ("la", ["latin", "lat"]), ("lt", ["lithuanian", "lit"]), ("lv", ["latvian", "lav"]),
        ("nl", ["dutch", "dut", "nld"]), ("no", ["norwegian", "nor"]), ("pl", ["polish", "pol"]),
        ("pt", ["portuguese", "por"]), ("ro", ["romanian", "rum", "ron"]),
        ("ru", ["russian", "rus"]), ("sk", ["slovak", "slo", "slk"]), ("sl", ["slovenian", "slv"]),
        ("sr", ["serbian", "srp"]), ("sv", ["swedish", "swe"]), ("tr", ["turkish", "tur"]),
        ("uk", ["ukrainian", "ukr"]), ("vi", ["vietnamese", "vie"]),
        ("zh", ["chinese", "chi", "zho"]),
    ]
}
