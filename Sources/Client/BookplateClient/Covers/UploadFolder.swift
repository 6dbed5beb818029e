import Foundation

/// The files that queued writes send. A file is written before its write is queued, and removed after the write has left the queue.
///
/// `@unchecked`: the lock protects the properties.
final class UploadFolder: @unchecked Sendable {
    private let folder: URL
    private let lock = NSLock()
    /// The files whose write is not queued yet.
    private var unqueued: Set<String> = []
    /// Whether the folder may have files.
    private var isUsed: Bool

    init(folder: URL) {
        self.folder = folder
        isUsed = FileManager.default.fileExists(atPath: folder.path)
    }

    /// Stores a file durably, and keeps it while `body` queues its write.
    func add(_ data: Data, as name: String, _ body: () throws -> Void) throws {
        lock.withLock {
            _ = unqueued.insert(name)
            isUsed = true
        }
        defer { lock.withLock { _ = unqueued.remove(name) } }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = file(name)
        try data.write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        try handle.synchronize()
        try body()
    }

    func data(of name: String) -> Data? { try? Data(contentsOf: file(name)) }

    /// Removes the files that no write needs.
    ///
    /// - Parameter needed: reads the names in the queue.
    func clean(_ needed: () throws -> Set<String>) throws {
        // The list comes first: a file that is added later is not in it.
        let unqueued: Set<String>? = lock.withLock { isUsed ? self.unqueued : nil }
        guard let unqueued else { return }
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let left = Set(files).intersection(try needed()).union(unqueued)
        for name in files where !left.contains(name) {
            try? FileManager.default.removeItem(at: file(name))
        }
        lock.withLock { isUsed = !left.isEmpty || !self.unqueued.isEmpty }
    }

    /// Copies files of a guest. Files that are here already stay.
    func copy(_ names: [String], from other: UploadFolder) throws {
        for name in names {
            guard let data = other.data(of: name) else { continue }
            try add(data, as: name) {}
        }
    }

    private func file(_ name: String) -> URL { folder.appendingPathComponent(name) }
}
