import Basics
import BookSources
import GraphQL
import Requests

/// The members of a JSON object in `library.json`. A member that cannot be used is left out and reported in `problems`.
package final class BookplateMembers {
    private let value: Value
    package private(set) var problems: [ImportProblem] = []

    package init(_ value: Value) { self.value = value }

    package func report(_ field: String, _ message: String, effect: String = "It was left out.") {
        if problems.count < ImportFields.problemsMax {
            problems.append(.init(field: field, "\(message) \(effect)"))
        }
    }

    /// Returns a member; nil if it is absent or null.
    func member(_ name: String) -> Value? {
        value[name].flatMap { $0.isNull ? nil : $0 }
    }

    package func text(_ name: String, max: Int) -> String? {
        member(name).flatMap { text($0, name, max: max) }
    }

    private func text(_ value: Value, _ name: String, max: Int) -> String? {
        guard let text = value.string else {
            report(name, "\(name) is not text.")
            return nil
        }
        do throws(BookplateError) {
            // PostgreSQL stores no NUL characters.
            return try TextInput.optional(
                text.utf8.contains(0) ? text.replacing("\0", with: "") : text, field: name,
                charactersMax: max)
        } catch {
            report(name, error.message)
            return nil
        }
    }

    package func texts(_ name: String, max: Int) -> [String] {
        (member(name)?.list ?? []).compactMap { text($0, name, max: max) }
    }

    /// Returns a text that only devices read, exactly as it is; nil if it is absent or cannot be stored.
    func exactText(_ name: String, max: Int) -> String? {
        member(name)?.storableText(charactersMax: max)
    }

    /// Returns the texts of a list that only devices read; nil if there is no list.
    func exactTexts(_ name: String, countMax: Int, max: Int) -> [String]? {
        member(name)?.list?.prefix(countMax).compactMap { $0.storableText(charactersMax: max) }
    }

    func id(_ name: String) -> UUID? {
        guard let value = member(name) else { return nil }
        guard let id = value.string.flatMap({ UUID($0) }) else {
            report(name, "\(name) is not a UUID.")
            return nil
        }
        return id
    }

    func number(_ name: String, _ range: ClosedRange<Int>) -> Int? {
        guard let value = member(name) else { return nil }
        guard let number = value.int, range.contains(number) else {
            report(name, "\(name) is not between \(range.lowerBound) and \(range.upperBound).")
            return nil
        }
        return number
    }

    package func instant(_ name: String) -> Instant? {
        guard let value = member(name) else { return nil }
        guard let instant = value.string.flatMap({ Instant($0) }) else {
            report(name, "\(name) is not a date and time like 2026-01-31T12:00:00Z.")
            return nil
        }
        return instant
    }

    /// Returns one of the choices; nil, with a report, for any other value, and if the member is absent or null.
    func choice(_ name: String, _ choices: [String]) -> String? {
        guard let text = member(name)?.string, choices.contains(text) else {
            report(name, "\(name) is not one of \(choices.joined(separator: ", ")).")
            return nil
        }
        return text
    }

    /// Returns one of the choices; nil if the member is absent or null.
    func optionalChoice(_ name: String, _ choices: [String]) -> String? {
        member(name) == nil ? nil : choice(name, choices)
    }

    /// The list `authors` or, in a file without it, the text `author`.
    var authors: BookAuthors {
        let nameMax = ImportFields.authorsCharactersMax
        guard let list = member("authors")?.list else {
            return BookAuthors(text("author", max: nameMax).map(Contributor.authors) ?? [])
        }
        let authors = list.prefix(BookAuthors.storedMax).compactMap { author -> Contributor? in
            guard let name = author["name"].flatMap({ text($0, "authors", max: nameMax) }) else {
                report("authors", "An author has no name.")
                return nil
            }
            return Contributor(
                name: name,
                // A newer server may have written a role that this one does not know.
                role: author["role"].map {
                    AuthorRole(rawValue: $0.string ?? "") ?? .contributor
                } ?? .author)
        }
        return BookAuthors(authors)
    }

    /// The object `review`. In the files of `readers import`, the rating may also be a member of the book, and the review a text.
    var review: ImportedReview? {
        guard let value = member("review"), value.string == nil else {
            let text = text("review", max: Review.textCharactersMax)
            let quarterStars = quarterStars
            guard quarterStars != nil || text != nil else { return nil }
            return ImportedReview(quarterStars: quarterStars, text: text)
        }
        let members = BookplateMembers(value)
        defer { problems += members.problems }
        let quarterStars = members.quarterStars
        let text = members.text("text", max: Review.textCharactersMax)
        guard quarterStars != nil || text != nil else {
            report("review", "The review has no rating and no text.")
            return nil
        }
        return ImportedReview(
            id: members.id("id"), quarterStars: quarterStars, text: text,
            hasSpoilers: members.member("hasSpoilers")?.boolean ?? false,
            createdAt: members.instant("createdAt"), updatedAt: members.instant("updatedAt"))
    }

    /// The rating: `stars` or, in a file without it, the whole stars of `rating`.
    private var quarterStars: Int? {
        let name = member("stars") == nil ? "rating" : "stars"
        let stars: Double
        switch member(name) {
        case nil: return nil
        case .int(let number)?: stars = Double(number)
        case .float(let number)?: stars = number
        default: stars = -1
        }
        guard (0.25...5).contains(stars) else {
            report(name, "\(name) is not between 0.25 and 5.")
            return nil
        }
        return Int((4 * stars).rounded())
    }

    /// The first object of the list `series`, with a name and a position.
    var series: ImportedSeries? {
        guard let value = member("series")?.list?.first else { return nil }
        let members = BookplateMembers(value)
        defer { problems += members.problems }
        return members.text("name", max: ImportedSeries.nameCharactersMax).map {
            ImportedSeries(
                name: $0,
                position: members.text("position", max: ImportedSeries.positionCharactersMax))
        }
    }

    /// The list `readingGoals`. A goal that cannot be used is left out.
    var goals: [ImportedGoal] {
        (member("readingGoals")?.list ?? []).prefix(ReadingGoal.ofReaderMax).compactMap { value in
            let members = BookplateMembers(value)
            defer { problems += members.problems }
            guard let year = members.number("year", ReadingGoal.years),
                let unit = members.choice("unit", ReadingGoal.units),
                let target = members.number("target", 1...ReadingGoal.targetMax)
            else { return nil }
            return ImportedGoal(
                id: members.id("id"), year: year, unit: unit, target: target,
                createdAt: members.instant("createdAt"), updatedAt: members.instant("updatedAt"))
        }
    }

    /// The list `scans`. A scan that cannot be used is left out.
    var scans: [ImportedScan] {
        (member("scans")?.list ?? []).suffix(Scan.ofReaderMax).compactMap { value in
            let members = BookplateMembers(value)
            defer { problems += members.problems }
            guard let isbn = members.text("isbn", max: 200).flatMap({ ISBN($0) }),
                let scannedAt = members.instant("scannedAt"),
                let outcome = members.choice("outcome", ScanOutcome.allCases.map(\.rawValue))
            else {
                report("scans", "A scan has no ISBN, no time, or no outcome.")
                return nil
            }
            return ImportedScan(
                id: members.id("id") ?? .version7(), isbn: isbn, scannedAt: scannedAt,
                outcome: outcome)
        }
    }

    var followedAuthors: [ImportedFollow] {
        (member("followedAuthors")?.list ?? []).suffix(FollowedAuthors.ofReaderMax).compactMap {
            let members = BookplateMembers($0)
            defer { problems += members.problems }
            return members.text("name", max: FollowedAuthors.nameCharactersMax).map {
                ImportedFollow(name: $0, followedAt: members.instant("followedAt"))
            }
        }
    }

    /// Returns the reads of a list; nil if there is no such list.
    func reads(of name: String) -> [ImportedRead]? {
        guard let list = member(name)?.list else { return nil }
        return list.prefix(ImportedRead.countMax).compactMap { value -> ImportedRead? in
            let members = BookplateMembers(value)
            defer { problems += members.problems }
            guard
                let outcome = members.choice("outcome", ReadOutcome.allCases.map(\.rawValue))
                    .flatMap(ReadOutcome.init(rawValue:))
            else { return nil }
            var read = ImportedRead(
                id: members.id("id"), startedOn: members.date("startedOn"),
                finishedOn: outcome == .reading ? nil : members.date("finishedOn"),
                outcome: outcome)
            if let first = read.startedOn, let last = read.finishedOn, last.isBefore(first) {
                members.report("startedOn", "startedOn is after finishedOn.")
                read.startedOn = nil
            }
            read.format = members.optionalChoice("format", ["PRINT", "EBOOK", "AUDIO"])
                .flatMap { ImportedRead.Format(rawValue: $0) }
            read.lengthSeconds = members.number("lengthSeconds", 1...Int(Int32.max))
                .map(Int32.init)
            read.note = members.text("note", max: ImportedRead.noteCharactersMax)
            read.createdAt = members.instant("createdAt")
            read.updatedAt = members.instant("updatedAt")
            return read
        }
    }

    /// The list `shelfPositions`; empty if one of them cannot be used.
    var shelfPositions: [String] {
        let list = member("shelfPositions")?.list ?? []
        let positions = list.compactMap(\.string).filter {
            (1...200).contains($0.utf8.count) && $0.utf8.allSatisfy(\.isASCIIDigit)
        }
        return positions.count == list.count ? positions : []
    }

    /// The list `copies`. A loan without a borrower or a first day is left out, and so is a later day that is before its first day.
    var copies: [ImportedCopy] {
        let list = member("copies")?.list ?? []
        if list.count > BookCopy.ofBookMax {
            report(
                "copies", "The book has too many copies.",
                effect: "Only the first \(BookCopy.ofBookMax) were kept.")
        }
        return list.prefix(BookCopy.ofBookMax).map { value in
            let members = BookplateMembers(value)
            defer { problems += members.problems }
            let loans = members.loans(of: "pastLoans", members.member("pastLoans")?.list ?? [])
            return ImportedCopy(
                id: members.id("id"),
                format: members.text("format", max: BookCopy.formatCharactersMax),
                place: members.text("place", max: BookCopy.placeCharactersMax),
                note: members.text("note", max: BookCopy.noteCharactersMax),
                loan: members.loans(of: "loan", members.member("loan").map { [$0] } ?? []).first,
                pastLoans: loans, createdAt: members.instant("createdAt"),
                updatedAt: members.instant("updatedAt"))
        }
    }

    private func loans(of name: String, _ list: [Value]) -> [ImportedCopy.Loan] {
        list.prefix(BookCopy.pastLoansMax).compactMap { value in
            let members = BookplateMembers(value)
            defer { problems += members.problems }
            guard let borrower = members.text("borrower", max: BookCopy.borrowerCharactersMax),
                let lentOn = members.date("lentOn")
            else {
                report(name, "A loan has no borrower or no first day.")
                return nil
            }
            return ImportedCopy.Loan(
                id: members.id("id") ?? .version7(), borrower: borrower, lentOn: lentOn,
                dueOn: members.date("dueOn", notBefore: lentOn),
                returnedOn: members.date("returnedOn", notBefore: lentOn))
        }
    }

    private func date(_ name: String, notBefore first: PartialDate) -> PartialDate? {
        guard let date = date(name) else { return nil }
        if date.isBefore(first) {
            report(name, "\(name) is before lentOn.")
            return nil
        }
        return date
    }

    private func date(_ name: String) -> PartialDate? {
        guard let text = text(name, max: 10) else { return nil }
        guard let date = PartialDate(text) else {
            report(name, "“\(text)” is not a date like 2021-03-14, 2021-03, or 2021.")
            return nil
        }
        return date
    }

    /// The position of an entry of progress: one of `page`, `percent`, and `seconds`.
    var position: ImportedProgress.Position? {
        let range = 0...Int(Int32.max)
        if member("page") != nil { return number("page", range).map { .page($0) } }
        if member("seconds") != nil { return number("seconds", range).map { .seconds($0) } }
        let percent: Double? =
            switch member("percent") {
            case .int(let number)?: Double(number)
            case .float(let number)?: number
            default: nil
            }
        guard let percent, (0...100).contains(percent) else { return nil }
        return .percent(percent)
    }
}
