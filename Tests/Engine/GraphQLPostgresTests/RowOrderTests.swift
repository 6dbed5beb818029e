import Basics
import Postgres
import Testing

@testable import GraphQLPostgres

@Suite struct RowOrderTests {
    private static let columns: [RowOrder.Key] = [
        .init("s.position", Column("b.position", .integer)), .init(Column("b.id", .uuid)),
    ]

    /// Returns a cursor of an order whose keys are a text and a UUID.
    private static func cursor(of order: RowOrder) throws -> Cursor {
        var bytes: [UInt8] = []
        for part in [Array(order.name.utf8), Array("Emma".utf8), Array(repeating: 7, count: 16)] {
            bytes += [0, UInt8(part.count)] + part
        }
        return try Cursor(Base64URL.encode(bytes), of: order)
    }

    @Test func ascendingOrder() {
        let order = RowOrder(name: "POSITION", columns: Self.columns, isDescending: false)
        #expect(order.sql == "s.position, b.id")
    }

    @Test func allKeysOfADescendingOrderAreDescending() {
        let order = RowOrder(name: "POSITION", columns: Self.columns, isDescending: true)
        #expect(order.sql == "s.position DESC, b.id DESC")
    }

    @Test(arguments: [
        (false, "(b.title, b.id) > ($5, $6)"), (true, "(b.title, b.id) < ($5, $6)"),
    ])
    func rowsAfterACursorAreFoundByOneRowComparison(isDescending: Bool, sql: String) throws {
        let order = RowOrder(
            name: "TITLE",
            columns: [.init(Column("b.title", .text)), .init(Column("b.id", .uuid))],
            isDescending: isDescending)
        var parameters = Parameters()
        for _ in 1...4 { parameters.append(bool: nil) }
        let condition = order.isAfter(
            firstParameter: 5, try Self.cursor(of: order), &parameters)
        #expect(condition == sql)
        #expect(parameters.count == 6)
    }

    @Test func keysAreSentOncePerParent() {
        let (a, b) = (Library.austen, Library.shelley)
        let keys = ParentKeys([a, nil, b, a])
        #expect(keys.distinct == [a, b])
        #expect(!keys.isEmpty)
        #expect(ParentKeys([nil, nil]).isEmpty)
        #expect(ParentKeys([]).isEmpty)
    }
}
