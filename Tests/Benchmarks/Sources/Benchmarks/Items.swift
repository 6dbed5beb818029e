import Foundation
import GraphQL

/// An object in memory. The benchmark of the executor loads ten thousand of them.
struct Item {
    let id: String
    let title: String
    let author: String?
    let pages: Int
    let currentPage: Int?
    let rating: Double
    let isRead: Bool
    let genre: String
    let addedAt: String
    let position: Int

    static let all = (0..<10_000).map(Item.init)

    init(_ index: Int) {
        id = "item-\(index)"
        title = "The title of book number \(index)"
        author = index % 7 == 0 ? nil : "Author \(index % 500)"
        pages = 100 + index % 900
        currentPage = index % 3 == 0 ? index % 100 : nil
        rating = Double(index % 50) / 10
        isRead = index % 2 == 0
        genre = "Science Fiction"
        addedAt = "2026-01-14T09:30:00Z"
        position = index
    }
}

/// The resolvers of `items`. Operations on the other fields are only planned.
struct ItemResolvers: ResolverSource {
    private static let scalars: Set = ["ID", "String", "Int", "Float", "Boolean"]

    func resolver(for field: FieldDefinition, of type: TypeDefinition) -> FieldResolver? {
        Self.scalars.contains(field.namedType) ? .property : .load(ItemLoader())
    }
}

private struct ItemLoader: FieldLoader {
    func prepare(_ field: SelectedField) -> any PreparedLoad {
        PreparedItemLoad(
            columns: field.selections[0].fields.compactMap { Column(rawValue: $0.selected.name) })
    }
}

/// The fields of an item.
private enum Column: String {
    case id, title, author, pages, currentPage, rating, isRead, genre, addedAt, position
}

private struct PreparedItemLoad: PreparedLoad {
    let columns: [Column]

    func start(
        for parents: any ObjectBatch, arguments: ArgumentValues, in context: any ExecutionContext
    ) -> Load {
        let batch = ItemBatch(columns)
        var slots: [Slot] = [.list(start: 1, count: Int32(batch.count))]
        slots.reserveCapacity(batch.count + 1)
        for index in 0..<Int32(batch.count) { slots.append(.object(group: 0, index: index)) }
        return .ready(Children(slots: slots, groups: [.init(batch)]))
    }
}

private final class ItemBatch: ObjectBatch {
    private let columns: [Column]
    private let items = Item.all

    init(_ columns: [Column]) { self.columns = columns }

    var count: Int { items.count }

    func write(field: Int, of object: Int, to writer: inout ResponseWriter) -> LeafResult {
        switch columns[field] {
        case .id: writer.write(items[object].id)
        case .title: writer.write(items[object].title)
        case .author:
            guard let author = items[object].author else { return .null }
            writer.write(author)
        case .pages: writer.write(items[object].pages)
        case .currentPage:
            guard let page = items[object].currentPage else { return .null }
            writer.write(page)
        case .rating: writer.write(items[object].rating)
        case .isRead: writer.write(items[object].isRead)
        case .genre: writer.write(items[object].genre)
        case .addedAt: writer.write(items[object].addedAt)
        case .position: writer.write(items[object].position)
        }
        return .value
    }
}

/// The schema of the items with closures as resolvers.
func itemsWithClosures() throws -> ExecutableSchema<NoContext> {
    let start = Documents.schema.range(of: "type Item {")?.lowerBound ?? Documents.schema.startIndex
    let sdl = "type Query { items: [Item!]! }\n" + Documents.schema[start...]
    return try ExecutableSchema(sdl) { resolvers in
        resolvers.query.field("items") { _ in Item.all }
        let item = resolvers.type("Item", Item.self)
        item.field("id") { $0.id }
        item.field("title") { $0.title }
        item.field("author") { $0.author }
        item.field("pages") { $0.pages }
        item.field("currentPage") { $0.currentPage }
        item.field("rating") { $0.rating }
        item.field("isRead") { $0.isRead }
        item.field("genre") { $0.genre }
        item.field("addedAt") { $0.addedAt }
        item.field("position") { $0.position }
    }
}
