import BookSources
import GraphQL
import Postgres
import Requests

/// The authors of a book in the form of its columns `authors` and `author_roles`.
package struct BookAuthors: Equatable {
    static let max = 20
    static let nameCharactersMax = 200
    /// The maximum number that a book has room for, because cards and imported books can have more than `max`.
    static let storedMax = 50

    package let names: [String]
    /// The roles at the positions of the names, without those of authors at the end.
    package let roles: [String]

    static let none = BookAuthors([])

    /// Leaves out blank names, repetitions, and what exceeds `storedMax`. Each white space in a name becomes one space.
    package init(_ contributors: [Contributor]) {
        var known: Set<Contributor> = []
        let contributors = contributors.map { contributor in
            var contributor = contributor
            contributor.name = contributor.name.split(whereSeparator: \.isWhitespace)
                .joined(separator: " ")
            return contributor
        }
        let distinct = contributors.filter { !$0.name.isEmpty && known.insert($0).inserted }
            .prefix(Self.storedMax)
        names = distinct.map(\.name)
        let last = distinct.lastIndex { $0.role != .author }
        roles = last.map { distinct[...$0].map(\.role.rawValue) } ?? []
    }

    /// Reads the field `authors` of an input object.
    ///
    /// - Returns: Nil if it is not given. An empty list if it is null or empty.
    /// - Throws: `.badUserInput` with the name of the field.
    init?(_ input: InputObject) throws(BookplateError) {
        guard input.isGiven("authors") else { return nil }
        let entries = input["authors"]?.list ?? []
        guard entries.count <= Self.max else {
            throw .badUserInput(field: "authors", .init(.tooMany, max: Self.max))
        }
        var contributors: [Contributor] = []
        for entry in entries {
            let author = InputObject(entry)
            contributors.append(
                Contributor(
                    name: try TextInput.line(
                        author.text("name") ?? "", field: "name",
                        charactersMax: Self.nameCharactersMax),
                    role: author.text("role").flatMap { AuthorRole(rawValue: $0) } ?? .author))
        }
        self.init(contributors)
    }

    /// Appends the names and the roles.
    func append(to parameters: inout Parameters) {
        parameters.append(texts: names)
        parameters.append(texts: roles)
    }
}
