import Testing

@testable import GraphQLPostgres

@Suite struct ColumnSetTests {
    private static let title = Column("b.title", .text)
    private static let pages = Column("b.page_count", .integer)

    @Test func repeatedColumnIsSelectedOnce() {
        var columns = ColumnSet()
        #expect(columns.index(of: Self.title) == 0)
        #expect(columns.index(of: Self.pages) == 1)
        #expect(columns.index(of: Self.title) == 0)
        #expect(columns.count == 2)
        #expect(columns.sql == "b.title, b.page_count")
    }

    @Test func sameExpressionWithAnotherFormatIsAnotherColumn() {
        var columns = ColumnSet()
        #expect(columns.index(of: Self.title) == 0)
        #expect(columns.index(of: Column("b.title", .texts)) == 1)
    }

    @Test func emptySetSelectsNull() {
        #expect(ColumnSet().sql == "NULL")
    }

    @Test func columnsShareTheFormatsOfEarlierParts() {
        var columns = ColumnSet(sharing: [.integer, .text, .text, .uuid])
        #expect(columns.index(of: Self.title) == 1)
        #expect(columns.index(of: Column("b.subtitle", .text)) == 2)
        // Both columns of the format are used.
        #expect(columns.index(of: Column("b.series", .text)) == 4)
        #expect(columns.index(of: Self.pages) == 0)
        #expect(columns.index(of: Self.title) == 1)
        #expect(columns.sql == "b.page_count, b.title, b.subtitle, NULL, b.series")
        #expect(columns.formats == [.integer, .text, .text, .uuid, .text])
    }
}
