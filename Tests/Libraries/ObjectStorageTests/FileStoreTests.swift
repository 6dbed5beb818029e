import Foundation
import Glibc
import LinkRefusal
import Testing

@testable import ObjectStorage

/// Tests of the file store in a temporary folder.
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
        try await store.read(try path(variant))
    }

    @Test func storesReadsAndRemovesAVersion() async throws {
        let write = try await store.write(key, version: Self.version, Self.variants)
        await store.settle(write)
        for (variant, expected) in Self.variants {
            #expect(try await bytes(variant) == expected)
        }
        let open = try #require(try store.openNow(try path(.full)))
        #expect(!open.isRemoved)
        try await store.remove(key, version: Self.version)
        #expect(open.isRemoved)
        #expect(try await bytes(.full) == nil)
        try await store.remove(key, version: Self.version)
        #expect(try await store.list(key.folder, of: .bookCovers).objects.isEmpty)
        #expect(try await store.folders(of: .bookCovers) == [])
    }

    @Test func abandonedWriteLeavesNoFiles() async throws {
        let write = try await store.write(key, version: Self.version, Self.variants)
        await store.abandon(write)
        #expect(try await bytes(.full) == nil)
        #expect(try files(folder + "/.staging").count == 1)  // the folder of this process
        #expect(try await store.folders(of: .bookCovers) == [])
    }

    /// When servers of two installations start at once on the same folder, exactly one installation obtains
    /// it. This also holds if a crash left an empty owner file, and on file systems without hard links, which
    /// report that with different errors.
    @Test(arguments: [false, true], [nil, EPERM, EOPNOTSUPP, ENOSYS, EMLINK])
    func onlyOneInstallationObtainsTheStore(isEmpty: Bool, linkError: Int32?) async throws {
        if isEmpty { leaveEmptyClaim() }
        let results = try await withThrowingTaskGroup(of: (String, Bool).self) { tasks in
            for index in 0..<16 {
                tasks.addTask { [folder] in
                    let owner = index % 2 == 0 ? "one" : "another"
                    let isOwner = try await onThread {
                        let claim = { try FileStore(folder).claimNow(for: owner) }
                        guard let linkError else { return try claim() }
                        return try withoutLinks(linkError, claim)
                    }
                    return (owner, isOwner)
                }
            }
            return try await tasks.reduce(into: [:]) { $0[$1.0, default: []].insert($1.1) }
                as [String: Set<Bool>]
        }
        #expect(Set(results.values) == [[true], [false]])
        let owner = try #require(results.first { $0.value == [true] }?.key)
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

    /// A crash can leave the owner file without contents.
    @Test func emptyOwnerFileCountsAsNoOwner() async throws {
        leaveEmptyClaim()
        #expect(try await store.isClaimed(by: "one") == nil)
        #expect(try await store.claim(for: "one"))
        #expect(try await store.claim(for: "another") == false)
    }

    /// A sweep must not remove a version whose row is about to be inserted.
    @Test func pendingWritesAreNotListed() async throws {
        let write = try await store.write(key, version: Self.version, Self.variants)
        #expect(try await store.list(key.folder, of: .bookCovers).objects.isEmpty)
        #expect(try await FileStore(folder).sweepStaleWrites(isDryRun: false) == 0)
        #expect(try await FileStore(folder).list(key.folder, of: .bookCovers).objects.isEmpty)
        await store.settle(write)
        #expect(try await store.list(key.folder, of: .bookCovers).objects.count == 3)
    }

    /// The title cards of two readers with the same book have the same version.
    @Test func objectsWithTheSameVersionAreWrittenIndependently() async throws {
        let other = try #require(
            ObjectKey(.bookCovers, folder: key.folder, name: ObjectPathTests.user))
        let first = try await store.write(key, version: Self.version, Self.variants)
        let second = try await store.write(other, version: Self.version, Self.variants)
        await store.abandon(second)
        await store.settle(first)
        let found = try await store.list(key.folder, of: .bookCovers).objects
        #expect(found.count == 3)
        #expect(found.allSatisfy { $0.path.key == key })
    }

    @Test func sweepRemovesWritesOfEndedProcesses() async throws {
        let stale = folder + "/.staging/stale"
        let write = PendingWrite(key: key, version: Self.version).stagingName
        for part in ["", "/\(write)"] { mkdir(stale + part, 0o700) }
        try #require(symlink("/etc/hostname", stale + "/\(write)/full") == 0)
        #expect(try await store.sweepStaleWrites(isDryRun: false) == 1)
        #expect(try files(folder + "/.staging") == [])
        #expect(access("/etc/hostname", F_OK) == 0)
    }

    @Test func removingAFolderRemovesAllVersions() async throws {
        for index in 0..<3 {
            let version = String(repeating: "\(index)", count: 32)
            await store.settle(try await store.write(key, version: version, Self.variants))
        }
        #expect(try await store.removeFolder(key.folder, of: .bookCovers) == 3)
        #expect(try await store.removeFolder(key.folder, of: .bookCovers) == 0)
        #expect(try await store.folders(of: .bookCovers) == [])
    }

    /// Only regular files are opened, and symbolic links are not followed in any part of the path.
    @Test func linksAndPipesAreNotOpened() async throws {
        await store.settle(try await store.write(key, version: Self.version, Self.variants))
        let target = "\(folder)/book-covers/\(key.folder)"
        for version in ["1", "2", "3"].map({ String(repeating: $0, count: 32) }) {
            let name = "\(target)/\(try path(.full, version).fileName)"
            switch version.first {
            case "1": #expect(symlink("/etc/hostname", name) == 0)
            case "2": #expect(mkfifo(name, 0o600) == 0)
            default: #expect(mkdir(name, 0o700) == 0)
            }
            #expect(try await store.byteCount(try path(.full, version)) == nil)
        }
        let linked = "0198c0de-0000-7000-8000-0000000000ff"
        #expect(symlink(target, "\(folder)/book-covers/\(linked)") == 0)
        let through = try #require(ObjectKey(.bookCovers, folder: linked, name: key.name))
        let path = try #require(ObjectPath(through, version: Self.version, .full))
        #expect(try await store.byteCount(path) == nil)
    }

    /// Writers of one object run concurrently with the removal of its folder.
    @Test func concurrentWritersAndRemovalDoNotInterfere() async throws {
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
        #expect(found.unknownFiles == [])
        _ = try await store.removeFolder(key.folder, of: .bookCovers)
        #expect(try await store.folders(of: .bookCovers) == [])
    }

    /// An operator runs a command as root before or while a server runs as another user.
    @Test(.enabled(if: geteuid() == 0, "only root can give files to another user"))
    func whatRootCreatesBelongsToTheOwnerOfTheFolder() async throws {
        #expect(chown(folder, 65534, 65534) == 0)
        let root = "\(folder)/covers/objects"
        let store = try FileStore(root)
        await store.settle(try await store.write(key, version: Self.version, Self.variants))
        let paths = try #require(FileManager.default.enumerator(atPath: "\(folder)/covers"))
            .compactMap { $0 as? String }
        #expect(paths.count >= 8, "\(paths)")
        for path in paths {
            var status = stat()
            #expect(lstat("\(folder)/covers/\(path)", &status) == 0)
            #expect(status.st_uid == 65534 && status.st_gid == 65534, "\(path)")
        }
        guard case .usable = FileStore.rootState(root) else {
            Issue.record("\(FileStore.rootState(root))")
            return
        }
        let file = try #require(paths.first { $0.hasSuffix(".jpg") })
        #expect(chown("\(folder)/covers/\(file)", 0, 0) == 0)
        #expect(FileStore.rootState(root) == .foreign("\(folder)/covers/\(file)"))
    }

    private func files(_ path: String) throws -> [String] { try Folder.root(path).names() }
}

/// Runs the work on a new thread, which ends when the work returns.
private func onThread<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result(catching: work)) }
    }
}

/// Runs the body while hard links fail with this error.
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
                // The context is `work`, which stays alive until the thread has ended.
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
