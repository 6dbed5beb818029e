import Glibc

/// Ownership of the store, listing, and removal of what crashed processes have left.
extension FileStore {
    package func claim(for owner: String) async throws(ObjectError) -> Bool {
        try await threads.run { () throws(ObjectError) in try claimNow(for: owner) }
    }

    /// The synchronous form of `claim`.
    func claimNow(for owner: String) throws(ObjectError) -> Bool {
        if let isClaimed = try isClaimedNow(by: owner) { return isClaimed }
        // The lock serializes claims, so that only one process at a time finds the store unclaimed.
        let lock = try root.waitForLock()
        defer { withExtendedLifetime(lock) {} }
        if let isClaimed = try isClaimedNow(by: owner) { return isClaimed }
        try writeOwner(owner)
        return try isClaimedNow(by: owner) ?? true
    }

    /// Writes the owner file completely or not at all.
    ///
    /// A file that another process has written meanwhile is kept. That can happen on a network file system
    /// whose locks are not shared between machines.
    private func writeOwner(_ owner: String) throws(ObjectError) {
        let staging = try process.folder(in: stagings)
        let name = String(UInt64.random(in: 0...UInt64.max), radix: 16)
        defer { try? staging.removeWrite(name) }
        let folder = try staging.makeFolder(name)
        try folder.create(Self.ownerFile, Array(owner.utf8))
        // An older version of the program left the file empty if the machine crashed; replace such a file.
        if let empty = try root.open(Self.ownerFile), empty.byteCount == 0 {
            try folder.rename(Self.ownerFile, to: root, Self.ownerFile)
        } else {
            do throws(ObjectError) {
                try folder.link(Self.ownerFile, to: root, Self.ownerFile)
            } catch .failed(_, errno: EEXIST) {
            } catch .failed(_, errno: let code) where Self.lacksLinks.contains(code) {
                do throws(ObjectError) {
                    try root.create(Self.ownerFile, Array(owner.utf8))
                } catch .failed(_, errno: EEXIST) {}
            }
        }
        try root.synchronize()
    }

    package func isClaimed(by owner: String) async throws(ObjectError) -> Bool? {
        try await threads.run { () throws(ObjectError) in try isClaimedNow(by: owner) }
    }

    private static let ownerFile = ".owner"
    /// The errors of file systems without hard links, which include some of FUSE and SMB.
    private static let lacksLinks = [EPERM, EOPNOTSUPP, ENOSYS, EMLINK]

    private func isClaimedNow(by owner: String) throws(ObjectError) -> Bool? {
        guard let bytes = try root.open(Self.ownerFile)?.bytes() else { return nil }
        // An empty file counts as no owner.
        return bytes.isEmpty ? nil : bytes == Array(owner.utf8)
    }

    package func pages(
        of bucket: Bucket, after position: String?, includesWrites: Bool
    ) async throws(ObjectError) -> any ObjectPages {
        FolderPages(self, bucket, try await folders(of: bucket), after: position)
    }

    /// Returns the folders of a bucket, in no particular order.
    func folders(of bucket: Bucket) async throws(ObjectError) -> [String] {
        try await threads.run { () throws(ObjectError) in
            try root.folder(bucket.rawValue)?.names() ?? []
        }
    }

    package func list(
        _ folder: String, of bucket: Bucket
    ) async throws(ObjectError) -> ObjectListing {
        try await threads.run { () throws(ObjectError) in
            var listing = ObjectListing()
            guard let target = try root.folder(bucket.rawValue)?.folder(folder) else {
                return listing
            }
            for name in try target.names() {
                if let path = ObjectPath(bucket, folder: folder, fileName: name),
                    let status = target.status(of: name)
                {
                    listing.objects.append(
                        .init(
                            path: path, byteCount: Int(status.st_size),
                            createdAt: Int64(status.st_ctim.tv_sec)))
                } else {
                    listing.unknownFiles.append("\(folder)/\(name)")
                }
            }
            // Read after the files: a listed version that is no longer pending has its row or never will.
            let pending = try pendingVersions()
            listing.objects.removeAll { pending.contains($0.path.version) }
            return listing
        }
    }

    /// Returns the versions being written by running processes. A folder that can be locked belongs to an
    /// ended process.
    private func pendingVersions() throws(ObjectError) -> Set<String> {
        var versions: Set<String> = []
        for name in try stagings.names() {
            guard let folder = try stagings.folder(name), name == process.name || !folder.lock()
            else { continue }
            for name in try folder.names() {
                versions.insert(PendingWrite.version(inStaging: name))
            }
        }
        return versions
    }

    package func sweepStaleWrites(isDryRun: Bool) async throws(ObjectError) -> Int {
        try await threads.run { () throws(ObjectError) in
            var count = 0
            for name in try stagings.names() where name != process.name {
                // A process holds the lock of its folder as long as it runs.
                guard let folder = try stagings.folder(name), folder.lock() else { continue }
                for write in try folder.names() {
                    if !isDryRun { try folder.removeWrite(write) }
                    count += 1
                }
                if !isDryRun { try stagings.remove(name, isFolder: true) }
            }
            return count
        }
    }
}

/// A page for each folder of a bucket.
private actor FolderPages: ObjectPages {
    private let store: FileStore
    private let bucket: Bucket
    private var rest: ArraySlice<String>

    init(_ store: FileStore, _ bucket: Bucket, _ folders: [String], after position: String?) {
        self.store = store
        self.bucket = bucket
        rest = folders.filter { folder in position.map { $0 < folder } ?? true }.sorted()[...]
    }

    func next() async throws(ObjectError) -> (position: String, listing: ObjectListing)? {
        guard let folder = rest.popFirst() else { return nil }
        let listing = try await store.list(folder, of: bucket)
        return (folder, listing)
    }
}

extension Folder {
    /// Removes the staging folder of a write from its process's folder.
    func removeWrite(_ stagingName: String) throws(ObjectError) {
        guard let folder = try folder(stagingName) else { return }
        for name in try folder.names() { try folder.remove(name) }
        try remove(stagingName, isFolder: true)
    }
}
