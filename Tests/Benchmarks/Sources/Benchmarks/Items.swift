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

struct ItemResolvers: ResolverSource {
    func resolver(for field: FieldDefinition, of type: TypeDefinition) -> FieldResolver? {
        field.name == "items" ? .load(ItemLoader()) : .property
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

/// A context for loads that never wait for a flush.
final class NoContext: ExecutionContext {
    let needsFlush = false
    func flush() async {}
}
