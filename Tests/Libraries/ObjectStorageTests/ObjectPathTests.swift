import Testing

@testable import ObjectStorage

@Suite struct ObjectPathTests {
    static let user = "0198c0de-0000-7000-8000-000000000001"
    static let book = "0198c0de-0000-7000-8000-00000000000a"
    static let version = "0123456789abcdef0123456789abcdef"

    @Test(arguments: ObjectVariant.allCases)
    func fileNamesCanBeParsedAgain(variant: ObjectVariant) throws {
        let key = try #require(ObjectKey(.bookCovers, folder: Self.user, name: Self.book))
        let path = try #require(ObjectPath(key, version: Self.version, variant))
        #expect(
            ObjectPath(.bookCovers, folder: Self.user, fileName: path.fileName) == path)
    }

    @Test(arguments: [
        "", "..", ".", "../x", "0198C0DE-0000-7000-8000-00000000000A",
        "0198c0de-0000-7000-8000-00000000000a/", "0198c0de-0000-7000-8000-00000000000",
        "0198c0de/0000-7000-8000-00000000000a", "0198c0de-0000-7000-8000-00000000000%61",
        "0198c0de-0000-7000-8000-00000000000\u{0430}",
    ])
    func rejectsNamesThatAreNotLowerCaseUUIDs(text: String) {
        #expect(ObjectKey(.bookCovers, folder: Self.user, name: text) == nil)
        #expect(ObjectKey(.bookCovers, folder: text, name: Self.book) == nil)
    }

    @Test(arguments: [
        "0198c0de-0000-7000-8000-00000000000a.jpg",
        "0198c0de-0000-7000-8000-00000000000a.0123456789abcdef0123456789abcdef.full.jpg",
        "0198c0de-0000-7000-8000-00000000000a.0123456789abcdef0123456789abcde.jpg",
        "0198c0de-0000-7000-8000-00000000000a.0123456789abcdef0123456789abcdef.png", "x",
    ])
    func rejectsOtherFileNames(name: String) {
        #expect(ObjectPath(.bookCovers, folder: Self.user, fileName: name) == nil)
    }
}
