import GraphQL
import Postgres
import Requests

/// `Query.shared`.
extension SharedItem {
    static let shared = PlainMutation(.one, isPublic: true) {
        arguments, request throws(BookplateError) in
        // A request can have many of these fields.
        try request.charges.admit(1)
        let item = try await find(
            arguments["token"]?.string ?? "", after: arguments["after"]?.string, in: request)
        return [item.object(request.services)]
    }

    static let fields: [String: FieldResolver] = [
        "kind": .property, "title": .property, "readerName": .property, "appName": .property,
        "review": .load(PlainObjectsField(.one)), "note": .load(PlainObjectsField(.one)),
        "year": .load(PlainObjectsField(.one)), "books": .load(PlainObjectsField(.many)),
        "endCursor": .property,
    ]
    static let reviewFields: [String: FieldResolver] = [
        "stars": .property, "text": .property, "hasSpoilers": .property,
    ]
    static let noteFields: [String: FieldResolver] = [
        "text": .property, "comment": .property, "chapter": .property, "page": .property,
    ]
    static let yearFields: [String: FieldResolver] = [
        "year": .property, "finishedBooks": .property, "pages": .property, "hours": .property,
        "finishedReadsByMonth": .property,
    ]
    static let bookFields: [String: FieldResolver] = [
        "title": .property, "author": .property, "cover": .load(PlainObjectsField(.one)),
        "dominantColor": .property,
    ]
    static let coverFields: [String: FieldResolver] = [
        "url": .property, "width": .property, "height": .property,
    ]

    /// The name of the shelf, the title of the book, or the year.
    var title: String {
        if case .year(let year) = link.item { return "\(year)" }
        return facts.title ?? ""
    }

    var stars: Double? { facts.quarterStars.map { Double($0) / 4 } }

    /// Returns the public URL of a cover. The URL of the reader's own cover contains no id, and ends with the link.
    func url(of cover: SharedBook.Cover, _ book: SharedBook, _ services: Services) -> String {
        if let edition = cover.edition {
            return services.covers.urls.cover(ofEdition: edition, cover.version)
        }
        let sealed = token.seal(
            book.id.bytes + cover.version.utf8, for: "cover",
            keys: services.accounts.sessionKeys)
        return
            "\(services.covers.urls.publicURL)\(SharedLink.path)\(token.text)/\(sealed).jpg"
    }

    private func object(_ services: Services) -> PlainObject {
        func text(_ text: String?) -> Value { text.map { .string($0) } ?? .null }
        var objects = [
            "books": books.map { book in
                PlainObject(
                    leaves: [
                        "title": .string(book.title), "author": text(book.author),
                        "dominantColor": .string(book.color),
                    ],
                    objects: [
                        "cover": book.cover.map { cover in
                            [
                                PlainObject(leaves: [
                                    "url": .string(url(of: cover, book, services)),
                                    "width": .int(cover.width), "height": .int(cover.height),
                                ])
                            ]
                        } ?? []
                    ])
            }
        ]
        switch link.item {
        case .shelf: break
        case .review:
            objects["review"] = [
                PlainObject(leaves: [
                    "stars": stars.map { .float($0) } ?? .null, "text": text(facts.text),
                    "hasSpoilers": .boolean(facts.hasSpoilers),
                ])
            ]
        case .note:
            objects["note"] = [
                PlainObject(leaves: [
                    "text": text(facts.text), "comment": text(facts.comment),
                    "chapter": text(facts.chapter), "page": facts.page.map { .int($0) } ?? .null,
                ])
            ]
        case .year(let year):
            objects["year"] = [
                PlainObject(leaves: [
                    "year": .int(Int(year)), "finishedBooks": .int(facts.bookCount),
                    "pages": .int(min(facts.pageCount, Int(Int32.max))),
                    "hours": .float(Double(facts.seconds) / 3600),
                    "finishedReadsByMonth": .list(facts.months.map { .int($0) }),
                ])
            ]
        }
        return PlainObject(
            leaves: [
                "kind": .string(link.item.kind), "title": .string(title),
                "readerName": text(link.reader), "appName": .string(link.app),
                "endCursor": text(endCursor),
            ], objects: objects)
    }
}
