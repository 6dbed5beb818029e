import BookSources

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

    /// Returns the warnings of several columns, each on lines of its own.
    func contentNotes(_ names: String...) -> String? {
        let texts = names.map { plainText(ofHTML: raw($0)) }.filter { !$0.isEmpty }
        return short(
            texts.joined(separator: "\n"), names[0], max: ImportedBook.contentNotesCharactersMax)
    }

    func moods(_ name: String) -> [String] {
        let moods = names(name, max: BookCreation.labelCharactersMax)
        if moods.count > ImportedBook.moodsMax {
            report(
                name, "Only the first \(ImportedBook.moodsMax) of \(moods.count) moods were kept.")
        }
        return Array(moods.prefix(ImportedBook.moodsMax))
    }

    /// Returns the language tag of the first language of a cell, which may be a tag, a code of ISO 639, or an English name.
    func language(_ name: String) -> String? {
        let cell = raw(name).trimmed
        // The name of a language may have a comma: `Greek, Modern`.
        if let tag = Languages.tag(cell) { return tag }
        guard let text = cell.split(separator: ",").first?.trimmed, !text.isEmpty else {
            return nil
        }
        if let tag = Languages.tag(text) { return tag }
        if !Languages.isNone(text) {
            report(name, "“\(text.prefix(40))” is not a known language. It was left out.")
        }
        return nil
    }
}
