import GraphQL
import GraphQLPostgres
import Postgres

/// The fields `FeedCard.purchaseLinks` and `Book.purchaseLinks`: links to shops, with the affiliate tags of the caller's tenant.
struct PurchaseLinks: RowLoader {
    let isbn13: Column
    let title: Column
    let author: Column

    var parentColumns: [Column] { [isbn13, title, author] }

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(columns: self, selection: field.selections[0])
    }

    /// Both tags can be NULL.
    private static let tags = TypedStatement<Stores>(
        "SELECT amazon_tag, bookshop_id FROM tenants WHERE id = $1")

    private struct Prepared: RequestLoad {
        let columns: PurchaseLinks
        let selection: PlannedSelection

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            guard parents is RowBatch else { return .needsParents }
            let pending = request.query(
                PurchaseLinks.tags.statement, .of(try request.caller().tenantID))
            return .afterFlush { parents in
                request.children(of: parents) { () throws(BookplateError) in
                    guard let parents = parents as? RowBatch else { throw .internalError }
                    let tags = try pending.rows().decode(Stores.self).first
                    let stores = tags ?? Stores(amazonTag: nil, bookshopID: nil)
                    func text(_ column: Column, _ object: Int) -> String? {
                        parents.cell(column, of: object).map { String(decoding: $0, as: UTF8.self) }
                    }
                    var slots: [Slot] = []
                    var links: [PlainObject] = []
                    for object in 0..<parents.count {
                        let found = stores.links(
                            isbn: text(columns.isbn13, object).flatMap { ISBN($0) },
                            title: text(columns.title, object) ?? "",
                            author: text(columns.author, object))
                        slots.append(
                            .list(
                                start: Int32(parents.count + links.count),
                                count: Int32(found.count)))
                        links += found.map { link in
                            PlainObject(
                                leaves: [
                                    "store": .string(link.store.enumValue),
                                    "url": .string(link.url),
                                ], objects: ["bookstore": [link.store.object]])
                        }
                    }
                    slots += links.indices.map { .object(group: 0, index: Int32($0)) }
                    return Children(
                        slots: slots, groups: [.init(PlainBatch(links, selection))])
                }
            }
        }
    }
}

/// The shops of the schema's type `Bookstore`. The raw value is the id, which clients send and the database stores.
enum Bookstore: String, CaseIterable {
    case amazon = "amazon.com"
    case bookshop = "bookshop.org"

    /// The value of the deprecated enum `Store`.
    var enumValue: String {
        switch self {
        case .amazon: "AMAZON"
        case .bookshop: "BOOKSHOP"
        }
    }

    var object: PlainObject {
        let name =
            switch self {
            case .amazon: "Amazon"
            case .bookshop: "Bookshop.org"
            }
        // Both stores sell in the United States.
        return PlainObject(
            leaves: ["id": .string(rawValue), "name": .string(name), "country": .string("US")])
    }

    static let linkFields: [String: FieldResolver] = [
        "store": .property, "bookstore": .load(PlainObjectsField(.one)), "url": .property,
    ]
    static let fields: [String: FieldResolver] = [
        "id": .property, "name": .property, "country": .property,
    ]
}

/// A field that returns the shop whose id a column contains, such as `Swipe.bookstore`. Null for other ids.
struct BookstoreOfRow: RowLoader {
    let id: Column

    var parentColumns: [Column] { [id] }

    func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(id: id, selection: field.selections[0])
    }

    private struct Prepared: RequestLoad {
        let id: Column
        let selection: PlannedSelection

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            guard let parents = parents as? RowBatch else { return .needsParents }
            var stores: [PlainObject] = []
            let slots = (0..<parents.count).map { object -> Slot in
                let cell = parents.cell(id, of: object).map { String(decoding: $0, as: UTF8.self) }
                guard let store = cell.flatMap({ Bookstore(rawValue: $0) }) else { return .null }
                stores.append(store.object)
                return .object(group: 0, index: Int32(stores.count - 1))
            }
            return .ready(Children(slots: slots, groups: [.init(PlainBatch(stores, selection))]))
        }
    }
}

/// The shops, with the affiliate tags of one tenant.
struct Stores {
    let amazonTag: String?
    let bookshopID: String?

    /// Returns links to a book. Amazon identifies printed books by ISBN-10, Bookshop.org by ISBN-13. Without an ISBN, the
    /// links are searches.
    func links(
        isbn: ISBN?, title: String, author: String?
    ) -> [(store: Bookstore, url: String)] {
        let words = [title, author].compactMap { $0 }.joined(separator: " ")
        var amazon: String
        if let isbn10 = isbn?.isbn10 {
            amazon = "https://www.amazon.com/dp/\(isbn10)"
            if let amazonTag { amazon += "?tag=\(amazonTag)" }
        } else {
            amazon = "https://www.amazon.com/s?k=\(percentEncode(isbn?.description ?? words))"
            amazon += "&i=stripbooks"
            if let amazonTag { amazon += "&tag=\(amazonTag)" }
        }
        let bookshop =
            switch (isbn, bookshopID) {
            case (let isbn?, let id?): "https://bookshop.org/a/\(id)/\(isbn)"
            case (let isbn?, nil): "https://bookshop.org/book/\(isbn)"
            case (nil, _): "https://bookshop.org/search?keywords=\(percentEncode(words))"
            }
        return [(.amazon, amazon), (.bookshop, bookshop)]
    }

    /// Encodes all characters except the unreserved ones of RFC 3986 as `%XX`.
    private func percentEncode(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.append(byte)
            default:
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}

extension Stores: RowDecodable {
    init?(_ row: inout RowReader) {
        amazonTag = row.text()
        bookshopID = row.text()
    }
}
