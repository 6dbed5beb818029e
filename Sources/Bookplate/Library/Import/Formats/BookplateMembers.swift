import BookSources
import GraphQL

/// The members of a JSON object in `library.json`. A member that cannot be used is left out and reported in `problems`.
final class BookplateMembers {
    private let value: Value
    private(set) var problems: [ImportProblem] = []

    init(_ value: Value) { self.value = value }

    func report(_ field: String, _ message: String) {
        if problems.count < ImportFields.problemsMax {
            problems.append(.init(field: field, "\(message) It was left out."))
        }
    }

    /// Returns a member; nil if it is absent or null.
    private func member(_ name: String) -> Value? {
        value[name].flatMap { $0.isNull ? nil : $0 }
    }

    func text(_ name: String, max: Int) -> String? {
        member(name).flatMap { text($0, name, max: max) }
    }

    private func text(_ value: Value, _ name: String, max: Int) -> String? {
        guard let text = value.string else {
            report(name, "\(name) is not text.")
            return nil
        }
        do throws(BookplateError) {
            return try TextInput.optional(text, field: name, charactersMax: max)
        } catch {
            report(name, error.message)
            return nil
        }
    }

    func texts(_ name: String, max: Int) -> [String] {
        (member(name)?.list ?? []).compactMap { text($0, name, max: max) }
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

    func instant(_ name: String) -> Instant? {
        guard let value = member(name) else { return nil }
        guard let instant = value.string.flatMap({ Instant($0) }) else {
            report(name, "\(name) is not a date and time like 2026-01-31T12:00:00Z.")
            return nil
        }
        return instant
    }

    func choice(_ name: String, _ choices: [String]) -> String? {
        guard let text = member(name)?.string, choices.contains(text) else {
            report(name, "\(name) is not one of \(choices.joined(separator: ", ")).")
            return nil
        }
        return text
    }

    /// The list `authors` or, in a file without it, the text `author`.
    var authors: BookAuthors {
        let nameMax = ImportFields.authorsCharactersMax
        let written = text("author", max: nameMax)
        guard let list = member("authors")?.list else {
            return BookAuthors(written.map(Contributor.authors) ?? [], writtenAs: written)
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
        return BookAuthors(authors, writtenAs: written)
    }

    var review: ImportedReview? {
        guard let value = member("review") else { return nil }
        let members = BookplateMembers(value)
        defer { problems += members.problems }
        let halfStars = members.halfStars
        let text = members.text("text", max: Review.textCharactersMax)
        guard halfStars != nil || text != nil else {
            report("review", "The review has no rating and no text.")
            return nil
        }
        return ImportedReview(
            id: members.id("id"), halfStars: halfStars, text: text,
            hasSpoilers: members.member("hasSpoilers")?.boolean ?? false,
            createdAt: members.instant("createdAt"), updatedAt: members.instant("updatedAt"))
    }

    /// The rating: `stars` or, in a file without it, the whole stars of `rating`.
    private var halfStars: Int? {
        let name = member("stars") == nil ? "rating" : "stars"
        let stars: Double
        switch member(name) {
        case nil: return nil
        case .int(let number)?: stars = Double(number)
        case .float(let number)?: stars = number
        default: stars = -1
        }
        guard (0.5...5).contains(stars) else {
            report(name, "\(name) is not between 0.5 and 5.")
            return nil
        }
        return Int((2 * stars).rounded())
    }
}
