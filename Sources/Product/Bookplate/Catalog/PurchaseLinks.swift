import GraphQL
import GraphQLPostgres
import Postgres
import Requests

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
                    let stores = try pending.rows().decode(Stores.self).first
                    let links = LinkBatch(
                        parents, columns, stores ?? Stores(amazonTag: nil, bookshopID: nil),
                        selection)
                    let count = Bookstore.allCases.count
                    let lists = (0..<parents.count).map { object in
                        Slot.list(
                            start: Int32(parents.count + object * count), count: Int32(count))
                    }
                    let items = (0..<links.count).map { Slot.object(group: 0, index: Int32($0)) }
                    return Children(slots: lists + items, groups: [.init(links)])
                }
            }
        }
    }

    /// The links of each parent: one for each bookstore. URLs are written directly from the cells of the parent's row.
    private final class LinkBatch: ObjectBatch, BookstoreParents {
        private let parents: RowBatch
        private let columns: PurchaseLinks
        private let stores: Stores
        private let selection: PlannedSelection

        init(
            _ parents: RowBatch, _ columns: PurchaseLinks, _ stores: Stores,
            _ selection: PlannedSelection
        ) {
            self.parents = parents
            self.columns = columns
            self.stores = stores
            self.selection = selection
        }

        var count: Int { parents.count * Bookstore.allCases.count }

        func bookstore(of object: Int) -> Bookstore? {
            Bookstore.allCases[object % Bookstore.allCases.count]
        }

        func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
            guard let store = bookstore(of: object) else { return .null }
            switch selection.fields[field].selected.name {
            case "url":
                let parent = object / Bookstore.allCases.count
                writer.append(UInt8(ascii: "\""))
                stores.append(
                    .init(
                        isbn: ISBNDigits(parents.cell(columns.isbn13, of: parent)),
                        title: parents.cell(columns.title, of: parent),
                        author: parents.cell(columns.author, of: parent)),
                    store, to: &writer)
                writer.append(UInt8(ascii: "\""))
            default: return .null
            }
            return .value
        }
    }
}

/// The shops of the schema's type `Bookstore`. The raw value is the id, which clients send and the database stores.
enum Bookstore: String, CaseIterable {
    case amazon = "amazon.com"
    case bookshop = "bookshop.org"

    var name: String {
        switch self {
        case .amazon: "Amazon"
        case .bookshop: "Bookshop.org"
        }
    }

    static let linkFields: [String: FieldResolver] = [
        "bookstore": .load(BookstoreOfLink()), "url": .property,
    ]
    static let fields: [String: FieldResolver] = [
        "id": .property, "name": .property, "country": .property,
    ]
}

/// Objects that refer to a shop.
private protocol BookstoreParents: ObjectBatch {
    func bookstore(of object: Int) -> Bookstore?
}

/// The field `PurchaseLink.bookstore`.
private struct BookstoreOfLink: FieldLoader {
    func prepare(_ field: SelectedField) -> any PreparedLoad {
        Prepared(selection: field.selections[0])
    }

    private struct Prepared: RequestLoad {
        let selection: PlannedSelection

        func start(
            for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
        ) throws(BookplateError) -> Load {
            guard let parents = parents as? any BookstoreParents else { throw .internalError }
            let stores = (0..<parents.count).map { parents.bookstore(of: $0) }
            return .ready(BookstoreBatch.children(stores, selection))
        }
    }
}

private final class BookstoreBatch: ObjectBatch {
    private let stores: [Bookstore?]
    private let selection: PlannedSelection

    private init(_ stores: [Bookstore?], _ selection: PlannedSelection) {
        self.stores = stores
        self.selection = selection
    }

    /// Returns one shop or null for each parent.
    static func children(_ stores: [Bookstore?], _ selection: PlannedSelection) -> Children {
        let slots = stores.indices.map { index in
            stores[index] == nil ? Slot.null : .object(group: 0, index: Int32(index))
        }
        return Children(slots: slots, groups: [.init(BookstoreBatch(stores, selection))])
    }

    var count: Int { stores.count }

    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
        guard let store = stores[object] else { return .null }
        switch selection.fields[field].selected.name {
        case "id": writer.write(store.rawValue)
        case "name": writer.write(store.name)
        // Both stores sell in the United States.
        case "country": writer.write("US")
        default: return .null
        }
        return .value
    }
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
            let stores = (0..<parents.count).map { object in
                parents.cell(id, of: object).flatMap {
                    Bookstore(rawValue: String(decoding: $0, as: UTF8.self))
                }
            }
            return .ready(BookstoreBatch.children(stores, selection))
        }
    }
}

/// The shops, with the affiliate tags of one tenant.
struct Stores {
    let amazonTag: String?
    let bookshopID: String?

    /// The cells of a book that its links consist of.
    struct BookCells {
        let isbn: ISBNDigits?
        let title: UnsafeRawBufferPointer?
        let author: UnsafeRawBufferPointer?

        init(
            isbn: ISBNDigits?, title: UnsafeRawBufferPointer?, author: UnsafeRawBufferPointer?
        ) {
            self.isbn = isbn.flatMap { $0.isISBN ? $0 : nil }
            self.title = title
            self.author = author
        }
    }

    /// Appends the URL of a book. Amazon identifies printed books by ISBN-10, Bookshop.org by ISBN-13. Without an ISBN, the
    /// link is a search.
    func append(_ book: BookCells, _ store: Bookstore, to writer: inout ResponseWriter) {
        // URLs have no characters that JSON escapes: the database restricts those of the tags.
        switch (store, book.isbn) {
        case (.amazon, let isbn?) where isbn.hasISBN10:
            writer.append("https://www.amazon.com/dp/")
            isbn.appendISBN10(to: &writer)
            if let amazonTag { writer.append("?tag=", amazonTag) }
        case (.amazon, let isbn):
            writer.append("https://www.amazon.com/s?k=")
            if let isbn { isbn.append(to: &writer) } else { appendWords(book, to: &writer) }
            writer.append("&i=stripbooks")
            if let amazonTag { writer.append("&tag=", amazonTag) }
        case (.bookshop, let isbn?):
            writer.append("https://bookshop.org/")
            if let bookshopID {
                writer.append("a/", bookshopID)
                writer.append("/")
            } else {
                writer.append("book/")
            }
            isbn.append(to: &writer)
        case (.bookshop, nil):
            writer.append("https://bookshop.org/search?keywords=")
            appendWords(book, to: &writer)
        }
    }

    /// Appends the title and the author for a search.
    private func appendWords(_ book: BookCells, to writer: inout ResponseWriter) {
        if let title = book.title { writer.append(percentEncoding: title) }
        guard let author = book.author else { return }
        if book.title != nil { writer.append("%20") }
        writer.append(percentEncoding: author)
    }
}

extension ResponseWriter {
    fileprivate mutating func append(_ name: StaticString, _ value: String) {
        append(name)
        var value = value
        value.withUTF8 { append($0) }
    }

    /// Appends text with all characters except the unreserved ones of RFC 3986 as `%XX`.
    fileprivate mutating func append(percentEncoding text: UnsafeRawBufferPointer) {
        func digit(_ value: UInt8) -> UInt8 {
            value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") - 10 + value
        }
        for byte in text {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                append(byte)
            default:
                append(UInt8(ascii: "%"))
                append(digit(byte >> 4))
                append(digit(byte & 15))
            }
        }
    }
}

extension Stores: RowDecodable {
    init?(_ row: inout RowReader) {
        amazonTag = row.text()
        bookshopID = row.text()
    }
}
