import Foundation
import Glibc
import LinkRefusal
import Testing

@testable import Objects

/// Objects in a folder of a test's own.
@Suite struct FileStoreTests {
    let folder: String
    let store: FileStore
    let key: ObjectKey

    static let version = "0123456789abcdef0123456789abcdef"
    static let variants: [ObjectVariant: [UInt8]] = [
        .thumbnail: [1], .full: [2, 2], .large: [3, 3, 3],
    ]

    init() throws {
        var template = Array("/tmp/bookplate-objects-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        folder = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        store = try FileStore(folder)
        key = try #require(
            ObjectKey(.bookCovers, folder: ObjectPathTests.user, name: ObjectPathTests.book))
    }

    private func path(_ variant: ObjectVariant, _ version: String = version) throws -> ObjectPath {
        try #require(ObjectPath(key, version: version, variant))
    }

    private func bytes(_ variant: ObjectVariant) async throws -> [UInt8]? {
        try await store.open(try path(variant))?.bytes()
    }

    @Test func whatIsWrittenIsReadUntilItIsRemoved() async throws {
        let write = try await store.write(key, version: Self.version, Self.variants)
        await store.settle(write)
        for (variant, expected) in Self.variants {
            #expect(try await bytes(variant) == expected)
        }
        let open = try #require(try await store.open(try path(.full)))
        #expect(!open.isRemoved)
        try await store.remove(key, version: Self.version)
        #expect(open.isRemoved)
        #expect(try await bytes(.full) == nil)
        try await store.remove(key, version: Self.version)
        #expect(try await store.list(key.folder, of: .bookCovers).objects.isEmpty)
        #expect(try await store.folders(of: .bookCovers) == [])
    }

    @Test func anAbandonedWriteLeavesNothing() async throws {
        let write = try await store.write(key, version: Self.version, Self.variants)
        await store.abandon(write)
        #expect(try await bytes(.full) == nil)
        #expect(try files(folder + "/.staging").count == 1)  // this process's own folder
        #expect(try await store.folders(of: .bookCovers) == [])
    }

    /// Of many servers that start at once on one folder, those of one installation have it; also where a crash left an empty claim,
    /// and where the file system has no second names, which file systems say in several ways.
    @Test(arguments: [false, true], [nil, EPERM, EOPNOTSUPP, ENOSYS, EMLINK])
    func aStoreIsClaimedOnce(isEmpty: Bool, linkError: Int32?) async throws {
        if isEmpty { leaveEmptyClaim() }
        let answers = try await withThrowingTaskGroup(of: (String, Bool).self) { tasks in
            for index in 0..<16 {
                tasks.addTask { [folder] in
                    let owner = index % 2 == 0 ? "one" : "another"
                    let answer = try await onThread {
                        let claim = { try FileStore(folder).claimNow(for: owner) }
                        guard let linkError else { return try claim() }
                        return try withoutLinks(linkError, claim)
                    }
                    return (owner, answer)
                }
            }
            return try await tasks.reduce(into: [:]) { $0[$1.0, default: []].insert($1.1) }
                as [String: Set<Bool>]
        }
        #expect(Set(answers.values) == [[true], [false]])
        let owner = try #require(answers.first { $0.value == [true] }?.key)
        #expect(try await store.isClaimed(by: owner) == true)
        #expect(try await store.claim(for: "a third") == false)
        for name in try files(folder + "/.staging") {
            #expect(try files("\(folder)/.staging/\(name)").isEmpty)
        }
    }

    private func leaveEmptyClaim() {
        let descriptor = Glibc.open(folder + "/.owner", O_CREAT | O_WRONLY, 0o600)
        #expect(descriptor >= 0)
        close(descriptor)
    }

    /// A machine that crashed at the wrong moment left the name and no bytes.
    @Test func anEmptyClaimIsNobodys() async throws {
        leaveEmptyClaim()
        #expect(try await store.isClaimed(by: "one") == nil)
        #expect(try await store.claim(for: "one"))
        #expect(try await store.claim(for: "another") == false)
    }

    /// A sweep must not take a version whose row is about to come.
    @Test func aPendingWriteIsNotListed() async throws {
        let write = try await store.write(key, version: Self.version, Self.variants)
        #expect(try await store.list(key.folder, of: .bookCovers).objects.isEmpty)
        #expect(try await FileStore(folder).sweepDeadWrites(isDryRun: false) == 0)
        #expect(try await FileStore(folder).list(key.folder, of: .bookCovers).objects.isEmpty)
        await store.settle(write)
        #expect(try await store.list(key.folder, of: .bookCovers).objects.count == 3)
    }

    @Test func whatADeadProcessLeftIsSwept() async throws {
        let dead = folder + "/.staging/dead"
        for part in ["", "/\(Self.version)"] { mkdir(dead + part, 0o700) }
        try #require(symlink("/etc/hostname", dead + "/\(Self.version)/full") == 0)
        #expect(try await store.sweepDeadWrites(isDryRun: false) == 1)
        #expect(try files(folder + "/.staging") == [])
        #expect(access("/etc/hostname", F_OK) == 0)
    }

    @Test func aFolderGoesWithAllThatIsInIt() async throws {
        for index in 0..<3 {
            let version = String(repeating: "\(index)", count: 32)
            await store.settle(try await store.write(key, version: version, Self.variants))
        }
        #expect(try await store.removeFolder(key.folder, of: .bookCovers) == 3)
        #expect(try await store.removeFolder(key.folder, of: .bookCovers) == 0)
        #expect(try await store.folders(of: .bookCovers) == [])
    }

    /// Nothing but a regular file that is no link is opened, wherever in the path the link is.
    @Test func linksAndPipesAreNoObjects() async throws {
        await store.settle(try await store.write(key, version: Self.version, Self.variants))
        let place = "\(folder)/book-covers/\(key.folder)"
        for version in ["1", "2", "3"].map({ String(repeating: $0, count: 32) }) {
            let name = "\(place)/\(try path(.full, version).fileName)"
            switch version.first {
            case "1": #expect(symlink("/etc/hostname", name) == 0)
            case "2": #expect(mkfifo(name, 0o600) == 0)
            default: #expect(mkdir(name, 0o700) == 0)
            }
            #expect(try await store.open(try path(.full, version)) == nil)
        }
        let linked = "0198c0de-0000-7000-8000-0000000000ff"
        #expect(symlink(place, "\(folder)/book-covers/\(linked)") == 0)
        let through = try #require(ObjectKey(.bookCovers, folder: linked, name: key.name))
        let path = try #require(ObjectPath(through, version: Self.version, .full))
        #expect(try await store.open(path) == nil)
    }

    /// Writers of one object, and the removal of its folder, at once: each write is whole or not there.
    @Test func writersDoNotMeet() async throws {
        let versions = (0..<16).map { index -> String in
            String(repeating: String(index, radix: 16), count: 32)
        }
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for version in versions {
                tasks.addTask { [store, key] in
                    await store.settle(try await store.write(key, version: version, Self.variants))
                }
            }
            tasks.addTask { [store, key] in
                for _ in 0..<10 { _ = try await store.removeFolder(key.folder, of: .bookCovers) }
            }
            try await tasks.waitForAll()
        }
        let found = try await store.list(key.folder, of: .bookCovers)
        #expect(found.strangers == [])
        _ = try await store.removeFolder(key.folder, of: .bookCovers)
        #expect(try await store.folders(of: .bookCovers) == [])
    }

    private func files(_ path: String) throws -> [String] { try Folder.root(path).names() }
}

/// Runs it on a thread of its own, which ends with it.
private func onThread<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result(catching: work)) }
    }
}

/// Runs it where files get no second names: the kernel refuses them with this error.
private func withoutLinks<Value>(
    _ error: Int32, _ body: @escaping () throws -> Value
) throws -> Value {
    var result: Result<Value, any Error>?
    let work = Work {
        #expect(linkat(AT_FDCWD, "/nowhere", AT_FDCWD, "/nowhere", 0) == -1 && errno == error)
        result = Result(catching: body)
    }
    let problem = withExtendedLifetime(work) {
        bookplate_run_without_links(
            error,
            { context in
                // It is the work above, which lives until the thread has ended.
                if let context { Unmanaged<Work>.fromOpaque(context).takeUnretainedValue().body() }
            }, Unmanaged.passUnretained(work).toOpaque())
    }
    try #require(problem == 0)
    return try #require(result).get()
}

private final class Work {
    let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }
}
