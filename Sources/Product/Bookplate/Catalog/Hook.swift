/// Returns the line that a card shows: one good sentence of a description, or nil if the description has none.
///
/// Descriptions of catalogs begin with librarians' notes, prizes, and praise, and some of their sentences are glued together. The
/// function takes the first sentences of the text, rejects those that do not stand alone or do not say what the book is about, and
/// returns the one with the best score, which is usually the first. A sentence that is too long is cut before a last clause, if it is
/// complete without it. The time is linear in the length of the text, of which only the beginning is read.
package func hook(of description: String, charactersMax: Int = 140) -> String? {
    var best: (score: Int, text: String)?
    let scoreMin = 4
    func consider(_ sentence: HookSentence, score: Int) {
        guard sentence.scalars.count <= charactersMax, !sentence.isRejected else { return }
        let score = score - sentence.penalty
        if score >= scoreMin, score > best?.score ?? 0 { best = (score, sentence.text) }
    }
    let sentences = HookSentence.sentences(of: description)
    // Notes and praise before the text are not a part of it.
    var skipped = 0
    for (position, sentence) in sentences.enumerated() {
        guard !sentence.isNote, !sentence.isSalesTalk else {
            skipped += 1
            continue
        }
        let score = 10 - 3 * (position - skipped)
        guard score >= scoreMin else { break }
        if sentence.scalars.count < 40, sentence.wordCount > 2, position + 1 < sentences.count {
            // "Farmer Brown has a problem. His cows like to type."
            consider(sentence.followed(by: sentences[position + 1]), score: score)
        }
        if sentence.scalars.count <= charactersMax {
            consider(sentence, score: score)
        } else if let shortened = sentence.shortened(to: charactersMax) {
            consider(shortened, score: score - 1)
        }
    }
    return best?.text
}

/// A sentence at the start of a description.
struct HookSentence {
    let text: String
    let scalars: [Unicode.Scalar]
    /// Whether no text is before the sentence.
    private let isFirst: Bool
    /// The words in lower case, in UTF-8, with a space before and after each, and without apostrophes.
    private let words: [UInt8]
    private let firstWord: String
    private let lastWord: String
    let wordCount: Int

    private init(_ scalars: some Sequence<Unicode.Scalar>, isFirst: Bool) {
        var text = String.UnicodeScalarView()
        var words = " "
        var wordCount = 0
        var isInWord = false
        var isAfterSpace = true
        for scalar in scalars {
            let isSpace = scalar.properties.isWhitespace
            if !isSpace || !isAfterSpace { text.append(isSpace ? " " : scalar) }
            isAfterSpace = isSpace
            if scalar.isLetter || scalar.isDigit || scalar == "#" {
                if !isInWord { wordCount += 1 }
                words += scalar.properties.lowercaseMapping
                isInWord = true
            } else if isInWord, scalar != "'", scalar != "’" {
                words += " "
                isInWord = false
            }
        }
        if isInWord { words += " " }
        self.text = String(text)
        self.scalars = Array(text)
        self.isFirst = isFirst
        self.words = Array(words.utf8)
        firstWord = words.split(separator: " ").first.map(String.init) ?? ""
        lastWord = words.split(separator: " ").last.map(String.init) ?? ""
        self.wordCount = wordCount
    }

    func followed(by next: HookSentence) -> HookSentence {
        HookSentence(scalars + [" "] + next.scalars, isFirst: isFirst)
    }

    // MARK: Sentences

    /// Later text is not read: it depends on the text before it, and may reveal the plot.
    private static let scalarsMax = 3_000
    private static let sentencesMax = 6

    /// Returns the first sentences of a text. Text without a full stop at its end is left out as a heading, unless it is the only
    /// paragraph.
    static func sentences(of description: String) -> [HookSentence] {
        let scalars = Array(description.unicodeScalars.prefix(scalarsMax))
        var paragraphs: [ArraySlice<Unicode.Scalar>] = []
        for line in scalars.split(whereSeparator: {
            "\n\r\u{85}\u{2028}\u{2029}".unicodeScalars.contains($0)
        }) {
            guard let first = line.first(where: { !$0.properties.isWhitespace }) else { continue }
            if first.properties.isLowercase, let last = paragraphs.indices.last {
                // The line break is within a sentence.
                paragraphs[last] += [" "] + line
            } else {
                paragraphs.append(line)
            }
        }
        var sentences: [HookSentence] = []
        func append(_ part: ArraySlice<Unicode.Scalar>) {
            var part = part.drop {
                $0.properties.isWhitespace || "-–—•*·>~".unicodeScalars.contains($0)
            }
            while let last = part.last, last.properties.isWhitespace { part.removeLast() }
            if !part.isEmpty {
                sentences.append(HookSentence(part, isFirst: sentences.isEmpty))
            }
        }
        for var paragraph in paragraphs {
            if paragraph.first == "\"", !paragraph.dropFirst().prefix(300).contains("\"") {
                // The source has put the description in quotation marks.
                paragraph.removeFirst()
            }
            var start = paragraph.startIndex
            var index = start
            while index < paragraph.endIndex, sentences.count < sentencesMax {
                guard let end = endOfSentence(paragraph, at: index) else {
                    // A run of marks ends a sentence as a whole or not at all.
                    let isMark = fullStops.contains(paragraph[index])
                    index += 1
                    while isMark, index < paragraph.endIndex, fullStops.contains(paragraph[index]) {
                        index += 1
                    }
                    continue
                }
                append(paragraph[start..<end])
                start = end
                index = end
            }
            guard sentences.count < sentencesMax else { break }
            if paragraphs.count == 1, scalars.count < scalarsMax, start < paragraph.endIndex {
                let rest = HookSentence(paragraph[start...], isFirst: false)
                if !openWords.contains(rest.lastWord) { append(paragraph[start...] + ["."]) }
            }
        }
        return sentences
    }

    private static let fullStops: Set<Unicode.Scalar> = [".", "!", "?", "…"]

    /// Returns the index after the sentence whose first full stop is at `index`; nil if no sentence ends there.
    private static func endOfSentence(_ text: ArraySlice<Unicode.Scalar>, at index: Int) -> Int? {
        let mark = text[index]
        if "。！？।".unicodeScalars.contains(mark) { return index + 1 }
        guard ".!?…؟".unicodeScalars.contains(mark) else { return nil }
        var end = index + 1
        while end < text.endIndex, fullStops.contains(text[end]) { end += 1 }
        let afterMarks = end
        while end < text.endIndex, "\"”’'»)]".unicodeScalars.contains(text[end]) { end += 1 }
        guard end < text.endIndex else { return end }
        if text[end].properties.isWhitespace {
            guard let next = text[end...].prefix(40).first(where: { !$0.properties.isWhitespace })
            else { return end }
            if next.properties.isLowercase { return nil }
            return mark == "." && isAbbreviation(text[..<index]) ? nil : end
        }
        // Sentences without a space between them: "He waits.Then she comes." A quotation mark belongs to the second one.
        guard text[end].properties.isUppercase, index >= text.startIndex + 3,
            text[index - 3..<index].allSatisfy({ $0.isLetter && !$0.properties.isUppercase })
        else { return nil }
        return afterMarks
    }

    /// Returns whether the text before a full stop ends with an abbreviation or an initial.
    private static func isAbbreviation(_ text: ArraySlice<Unicode.Scalar>) -> Bool {
        var word = String.UnicodeScalarView()
        word.append(
            contentsOf: text.suffix(12).reversed().prefix { $0.isLetter || $0 == "." }.reversed())
        return word.count == 1 || word.contains(".")
            || abbreviations.contains(String(word).lowercased())
    }

    // MARK: Notes and sales talk

    /// Whether the sentence is a note about editions.
    var isNote: Bool { Self.notes.isIn(words) }

    /// Whether the sentence advertises or praises the book.
    var isSalesTalk: Bool { Self.salesTalk.isIn(words) }

    // MARK: Faults

    /// Whether the sentence must not be shown.
    var isRejected: Bool {
        guard let first = scalars.first, let last = scalars.last, !isNote, !isSalesTalk else {
            return true
        }
        // Chinese and Japanese have no spaces between words.
        let hasWords = scalars.contains(" ") || first.value < 0x0E00
        let isShort = hasWords ? wordCount < 6 || scalars.count < 30 : scalars.count < 12
        // The rest of a sentence, or a quotation, which is mostly praise.
        let isPart = first.properties.isLowercase || !(first.isLetter || first.isDigit)
        // A text that breaks off.
        let isOpenEnded =
            !".!?。！？।؟\"”’'»)".unicodeScalars.contains(last)
            || last == "." && [".", " "].contains(scalars.suffix(2).first)
        return isShort || isPart || isOpenEnded || hasStrayMarks || hasGluedWords || isShouted
            || isDangling
    }

    /// Whether the sentence contains marks of lists, markup, or damaged text, or only a part of a quotation.
    private var hasStrayMarks: Bool {
        var depth = 0
        var quotes = 0
        for (index, scalar) in scalars.enumerated() {
            switch scalar {
            case "(", "“", "«": depth += 1
            case ")", "”", "»": depth -= 1
            case "\"": quotes += 1
            case "?":
                // A damaged apostrophe or dash: "the city?s".
                let rest = scalars[(index + 1)...]
                if rest.first?.isLetter == true
                    || rest.first == " " && rest.dropFirst().first?.properties.isLowercase == true
                {
                    return true
                }
            case _ where "\u{FFFD}*|~•·[]<>_{}\\©®™=/@…".unicodeScalars.contains(scalar):
                return true
            case _ where scalar.properties.generalCategory == .control: return true
            default: break
            }
            if depth < 0 { return true }
        }
        return depth != 0 || quotes % 2 != 0 || text.contains("...")
    }

    /// Whether words or sentences follow each other without a space: "A MysteryFormer addict", "for it.When", "one,two".
    private var hasGluedWords: Bool {
        guard scalars.count > 2 else { return false }
        for index in 1..<scalars.count - 1 {
            let (previous, next) = (scalars[index - 1], scalars[index + 1])
            switch scalars[index] {
            case ",", ";", ":", "!", ".", ")":
                if next.isLetter, !previous.properties.isUppercase { return true }
            case let scalar
            where scalar.properties.isUppercase && previous.properties.isLowercase
                && next.properties.isLowercase:
                // "McDonald", "MacBeth", "DeVito", and "LeBlanc" are names.
                let start = scalars[..<index].lastIndex { !$0.isLetter }.map { $0 + 1 } ?? 0
                if index - start > 2, !Self.namePrefixes.contains(Array(scalars[start..<index])) {
                    return true
                }
            case let scalar
            where scalar.properties.isUppercase && previous.isDigit && next.properties.isLowercase:
                return true
            default: break
            }
        }
        return false
    }

    private static let namePrefixes: Set<[Unicode.Scalar]> = Set(
        ["Mac", "Fitz", "Van", "Von", "You"].map { Array($0.unicodeScalars) })

    /// Whether three words in a row are in capitals, or almost all words begin with a capital letter, as in a title.
    private var isShouted: Bool {
        var run = 0
        var (capitalized, total) = (0, 0)
        for word in text.split(separator: " ") {
            let letters = word.unicodeScalars.filter(\.isLetter)
            guard let first = letters.first, letters.count > 1 else { continue }
            run = letters.allSatisfy(\.properties.isUppercase) ? run + 1 : 0
            if run == 3 { return true }
            if letters.count > 3 {
                total += 1
                if first.properties.isUppercase { capitalized += 1 }
            }
        }
        return total > 3 && capitalized * 10 > total * 8
    }

    /// Whether the sentence needs the one before it: it begins with a conjunction, or has a pronoun before any name.
    private var isDangling: Bool {
        if Self.connectives.contains(firstWord) { return true }
        guard !isFirst else { return false }
        if Self.references.contains(firstWord) { return true }
        for (position, word) in text.split(separator: " ").enumerated() {
            let letters = word.unicodeScalars.drop { !$0.isLetter }.prefix(while: \.isLetter)
            if position > 0, letters.count > 1, letters.first?.properties.isUppercase == true {
                return false
            }
            if Self.pronouns.contains(String(letters).lowercased()) { return true }
        }
        return false
    }

    /// The points that the sentence loses for praise, for speaking to the reader, and for being short.
    var penalty: Int {
        return 3 * Self.weakWords.count(in: words) + (Self.persons.isIn(words) ? 4 : 0)
            + (Self.invitations.contains(firstWord) ? 3 : 0) + (scalars.last == "!" ? 2 : 0)
            + (scalars.count < 50 ? 1 : 0)
    }

    // MARK: Long sentences

    /// Returns the sentence without a clause at its end, if it is complete without that clause; nil otherwise.
    func shortened(to scalarsMax: Int) -> HookSentence? {
        let isSubordinate = Self.subordinators.contains(firstWord)
        for index in (50..<max(50, min(scalars.count, scalarsMax))).reversed() {
            let rest = scalars[index...]
            guard
                let separator = Self.separators.first(where: { rest.starts(with: $0.scalars) })
                    ?? Self.participle(rest)
            else { continue }
            let kept = scalars[..<index]
            let commas = kept.count { $0 == "," }
            let later = rest.dropFirst(2)
            if !separator.mayBeInside, later.contains(where: { ",—–;".unicodeScalars.contains($0) })
            {
                continue
            }
            if separator.isDash,
                later.contains("—") || later.contains("–")
                    || String(String.UnicodeScalarView(later)).contains(" - ")
                    || kept.contains("—") || String(String.UnicodeScalarView(later)).contains("--")
            {
                continue
            }
            // The main clause follows the first comma of "When …, …", and has a verb.
            let main: ArraySlice<Unicode.Scalar>
            if isSubordinate {
                guard commas == 1, let comma = kept.firstIndex(of: ",") else { continue }
                main = kept[comma...]
            } else if commas == 2, !separator.isConjunction, let comma = kept.lastIndex(of: ",") {
                main = kept[comma...]
            } else {
                guard commas == 0 else { continue }
                main = kept
            }
            guard Self.hasVerb(main), kept.last?.isLetter == true else { continue }
            // The clause may belong to the subject of "He finds that the teacher, who …, is …".
            if main.split(separator: " ").suffix(7).contains(where: {
                $0.elementsEqual("that".unicodeScalars)
            }) {
                continue
            }
            let shortened = HookSentence(Array(kept) + ["."], isFirst: isFirst)
            // The end of "in the city of" or of "he and".
            let last = shortened.lastWord
            if Self.openWords.contains(last) || last.hasSuffix("ing") { continue }
            return shortened
        }
        return nil
    }

    private static func hasVerb(_ clause: ArraySlice<Unicode.Scalar>) -> Bool {
        clause.split { !$0.isLetter }.contains { word in
            var text = String.UnicodeScalarView()
            text.append(contentsOf: word)
            return verbs.contains(String(text))
        }
    }

    /// A separator before a clause.
    private struct Separator {
        let scalars: [Unicode.Scalar]
        /// Whether the clause may be followed by others.
        let mayBeInside: Bool
        let isDash: Bool
        /// Whether the clause may be the last item of a list.
        let isConjunction: Bool

        init(_ text: String, mayBeInside: Bool = false) {
            scalars = Array(text.unicodeScalars)
            self.mayBeInside = mayBeInside
            isConjunction = text == ", and "
            isDash = text.contains { "—–-".contains($0) }
        }
    }

    /// Returns the separator of a clause like ", leading them to the coast".
    private static func participle(_ rest: ArraySlice<Unicode.Scalar>) -> Separator? {
        guard rest.first == ",", rest.dropFirst().first == " " else { return nil }
        let word = rest.dropFirst(2).prefix(while: \.isLetter)
        guard word.count > 5, word.suffix(3).elementsEqual("ing".unicodeScalars),
            word.first?.properties.isLowercase == true
        else { return nil }
        return participleSeparator
    }

    private static let participleSeparator = Separator(", ", mayBeInside: true)
    private static let separators: [Separator] =
        [
            ", where ", ", which ", ", who ", ", whose ", ", while ", ", until ", ", when ",
            ", as ", ", but ", ", in which ", ", and ",
        ]
        .map { Separator($0, mayBeInside: true) }
        + [
            "; ", ", before ", ", after ", ", unless ", ", because ", ", although ", ", so ",
            ", only to ", ", even as ", ", with ",
        ]
        .map { Separator($0, mayBeInside: $0 == "; ") }
        + ["—", " — ", " – ", " -- ", "--", " - "].map { Separator($0, mayBeInside: true) }
}

extension Unicode.Scalar {
    fileprivate var isLetter: Bool { properties.isAlphabetic }
    fileprivate var isDigit: Bool { properties.numericType != nil }
}
