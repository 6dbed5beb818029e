import Bookplate
import Config
import ObjectStorage
import Postgres
import TestSupport
import Testing

/// The common behavior of all object stores.
@Suite struct ObjectStoreTests {
    private static let app = Shared { try await TestApp.start(catalog: []) }
    private static let user = "0198c0de-0000-7000-8000-00000000000a"
    private static let variants: [ObjectVariant: [UInt8]] = [
        .thumbnail: [1], .full: [2, 2], .large: [3, 3, 3],
    ]

    private func store(_ kind: TestStore) async throws -> any ObjectStore {
        try await kind.make(Self.app().pool)
    }

    private func key(_ number: Int = 0) throws -> ObjectKey {
        let digits = String(number, radix: 16)
        let name =
            "0198c0de-0000-7000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
        return try #require(ObjectKey(.bookCovers, folder: Self.user, name: name))
    }

    private func version(_ digit: Character) -> String { String(repeating: digit, count: 32) }

    @Test(arguments: TestStore.allCases)
    func storesReadsAndRemovesAVersion(kind: TestStore) async throws {
        let store = try await store(kind)
        let (key, version) = (try key(), version("a"))
        await store.settle(try await store.write(key, version: version, Self.variants))
        for (variant, bytes) in Self.variants {
            let path = try #require(ObjectPath(key, version: version, variant))
            #expect(try await store.read(path) == bytes)
            #expect(try await store.byteCount(path) == bytes.count)
            switch try await store.open(path) {
            case .file(let file)?: #expect(try file.bytes() == bytes && kind == .files)
            case .bytes(let content)?: #expect(content == bytes && kind != .files)
            case .url(let url)?: Issue.record("\(url)")
            case nil: Issue.record("missing")
            }
        }
        try await store.remove(key, version: version)
        let path = try #require(ObjectPath(key, version: version, .full))
        #expect(try await store.read(path) == nil)
        #expect(try await store.byteCount(path) == nil)
        #expect(try await store.open(path) == nil)
        try await store.remove(key, version: version)
        #expect(try await store.list(key.folder, of: .bookCovers).objects.isEmpty)
    }

    /// A sweep must not remove a version whose row is about to be inserted.
    @Test(arguments: TestStore.allCases)
    func writesInProgressAreNotListed(kind: TestStore) async throws {
        let store = try await store(kind)
        let key = try key()
        let settled = try await store.write(key, version: version("a"), Self.variants)
        let abandoned = try await store.write(key, version: version("b"), Self.variants)
        #expect(try await store.list(key.folder, of: .bookCovers).objects.isEmpty)
        let pages = try await store.pages(of: .bookCovers, after: nil, includesWrites: false)
        while let page = try await pages.next() { #expect(page.listing.objects.isEmpty) }
        #expect(try await store.sweepStaleWrites(isDryRun: false) == 0)
        await store.settle(settled)
        await store.abandon(abandoned)
        let listed = try await store.list(key.folder, of: .bookCovers)
        #expect(listed.objects.count == 3 && listed.unknownFiles.isEmpty)
        #expect(Set(listed.objects.map(\.path.version)) == [version("a")])
        #expect(
            Dictionary(uniqueKeysWithValues: listed.objects.map { ($0.path.variant, $0.byteCount) })
                == Self.variants.mapValues(\.count))
    }

    @Test(arguments: TestStore.allCases)
    func removingAFolderRemovesAllVersions(kind: TestStore) async throws {
        let store = try await store(kind)
        let key = try key()
        for digit in ["1", "2", "3"] as [Character] {
            await store.settle(
                try await store.write(key, version: version(digit), Self.variants))
        }
        #expect(try await store.removeFolder(key.folder, of: .bookCovers) == 3)
        #expect(try await store.removeFolder(key.folder, of: .bookCovers) == 0)
        #expect(try await store.list(key.folder, of: .bookCovers).objects.isEmpty)
    }

    /// When servers of two installations start at once on the same store, exactly one installation obtains it. Swift
    /// does not check conditions atomically.
    @Test(arguments: TestStore.fast)
    func onlyOneInstallationObtainsTheStore(kind: TestStore) async throws {
        let store = try await store(kind)
        #expect(try await store.isClaimed(by: "one") == nil)
        let results = try await withThrowingTaskGroup(of: (String, Bool).self) { tasks in
            for index in 0..<8 {
                tasks.addTask {
                    let owner = index % 2 == 0 ? "one" : "another"
                    let isOwner = try await store.claim(for: owner)
                    return (owner, isOwner)
                }
            }
            return try await tasks.reduce(into: [String: Set<Bool>]()) {
                $0[$1.0, default: []].insert($1.1)
            }
        }
        #expect(Set(results.values) == [[true], [false]])
        let owner = try #require(results.first { $0.value == [true] }?.key)
        #expect(try await store.isClaimed(by: owner) == true)
        #expect(try await store.claim(for: "a third") == false)
    }

    /// Pages have all files once, those of a version are on one page, and a listing continues after any page.
    @Test(arguments: TestStore.fast)
    func pagesAreComplete(kind: TestStore) async throws {
        let store = try await store(kind)
        let keys = try (0..<340).map { try key($0) }
        let versions = (0..<340).map { number in
            String(repeating: "c", count: 29) + "\(100 + number)"
        }
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for worker in 0..<8 {
                tasks.addTask {
                    for index in stride(from: worker, to: keys.count, by: 8) {
                        await store.settle(
                            try await store.write(
                                keys[index], version: versions[index], Self.variants))
                    }
                }
            }
            try await tasks.waitForAll()
        }
        var positions: [String] = []
        var files: [String] = []
        let pages = try await store.pages(of: .bookCovers, after: nil, includesWrites: false)
        while let page = try await pages.next() {
            positions.append(page.position)
            files += page.listing.objects.map(\.path.fileName)
            let objects = Dictionary(grouping: page.listing.objects, by: \.path.key)
            #expect(objects.allSatisfy { $0.value.count == 3 })
        }
        #expect(files.count == 1020 && Set(files).count == 1020)
        // The bucket has pages of at most 1000 objects; the folder is one page.
        #expect(positions.count == (kind == .bucket ? 2 : 1))
        #expect(positions == positions.sorted())
        let rest = try await store.pages(
            of: .bookCovers, after: positions[0], includesWrites: false)
        let next = try await rest.next()
        #expect((next?.position) == (kind == .bucket ? positions[1] : nil))
    }
}
