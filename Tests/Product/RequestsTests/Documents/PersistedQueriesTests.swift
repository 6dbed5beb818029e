import Testing

@testable import Bookplate
@testable import Requests

@Suite struct PersistedQueriesTests {
    @Test func storesTextsByHash() {
        let queries = PersistedQueries()
        #expect(queries.text(of: "a") == nil)
        queries.insert(Array("{ a }".utf8), hash: "a")
        #expect(queries.text(of: "a") == Array("{ a }".utf8))
        #expect(queries.text(of: "b") == nil)
    }

    @Test(arguments: [(8, 1_000_000), (1_000, 80)])
    func removesTheLeastRecentlyUsedTexts(countMax: Int, bytesMax: Int) {
        let queries = PersistedQueries(countMax: countMax, bytesMax: bytesMax)
        for index in 0..<8 { queries.insert(Array(repeating: 0x20, count: 10), hash: "\(index)") }
        #expect(queries.text(of: "0") != nil)
        queries.insert(Array(repeating: 0x20, count: 10), hash: "8")
        #expect(queries.text(of: "0") != nil && queries.text(of: "8") != nil)
        #expect(queries.text(of: "1") == nil && queries.text(of: "2") == nil)
    }

    @Test func doesNotStoreTextsLargerThanTheLimit() {
        let queries = PersistedQueries(countMax: 10, bytesMax: 10)
        queries.insert(Array(repeating: 0x20, count: 11), hash: "a")
        #expect(queries.text(of: "a") == nil)
    }
}
