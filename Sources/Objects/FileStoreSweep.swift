import Glibc

/// What there is, whose it is, and what crashes have left.
extension FileStore {
    package func claim(for owner: String) async throws(ObjectError) -> Bool {
        try await threads.run { () throws(ObjectError) in try claimNow(for: owner) }
    }

    /// As `claim`, on the caller's thread.
    func claimNow(for owner: String) throws(ObjectError) -> Bool {
        if let isClaimed = try isClaimedNow(by: owner) { return isClaimed }
        // One after the other, so that what is empty is nobody's until one has replaced it.
        let turn = try root.waitForTurn()
        defer { withExtendedLifetime(turn) {} }
        if let isClaimed = try isClaimedNow(by: owner) { return isClaimed }
        try writeOwner(owner)
        return try isClaimedNow(by: owner) ?? true
    }

    /// As an object is written: whole, or not at all. What another has written meanwhile stays, on a machine that does not see this
    /// one's turns, too.
    private func writeOwner(_ owner: String) throws(ObjectError) {
        let staging = try process.folder(in: stagings)
        let place = String(UInt64.random(in: 0...UInt64.max), radix: 16)
        defer { try? staging.removeWrite(place) }
        let folder = try staging.makeFolder(place)
        try folder.create(Self.ownerFile, Array(owner.utf8))
        // An older version left it empty where the machine crashed.
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
    /// What file systems say that have no second names, as FUSE and SMB may.
    private static let lacksLinks = [EPERM, EOPNOTSUPP, ENOSYS, EMLINK]

    private func isClaimedNow(by owner: String) throws(ObjectError) -> Bool? {
        guard let bytes = try root.open(Self.ownerFile)?.bytes() else { return nil }
        // An empty one says nothing.
        return bytes.isEmpty ? nil : bytes == Array(owner.utf8)
    }

    package func folders(of bucket: Bucket) async throws(ObjectError) -> [String] {
        try await threads.run { () throws(ObjectError) in
            try root.folder(bucket.rawValue)?.names() ?? []
        }
    }

    package func list(
        _ folder: String, of bucket: Bucket
    ) async throws(ObjectError) -> FolderListing {
        try await threads.run { () throws(ObjectError) in
            var listing = FolderListing()
            guard let place = try root.folder(bucket.rawValue)?.folder(folder) else {
                return listing
            }
            for name in try place.names() {
                if let path = ObjectPath(bucket, folder: folder, fileName: name),
                    let status = place.status(of: name)
                {
                    listing.objects.append(
                        .init(
                            path: path, byteCount: Int(status.st_size),
                            placedAt: Int64(status.st_ctim.tv_sec)))
                } else {
                    listing.strangers.append(name)
                }
            }
            // After the files: a write that is not pending now has its row, or had been given up.
            let pending = try pendingVersions()
            listing.objects.removeAll { pending.contains($0.path.version) }
            return listing
        }
    }

    /// The versions of processes that live: a folder that can be locked is a dead one's.
    private func pendingVersions() throws(ObjectError) -> Set<String> {
        var versions: Set<String> = []
        for name in try stagings.names() {
            guard let folder = try stagings.folder(name), name == process.name || !folder.lock()
            else { continue }
            versions.formUnion(try folder.names())
        }
        return versions
    }

    package func sweepDeadWrites(isDryRun: Bool) async throws(ObjectError) -> Int {
        try await threads.run { () throws(ObjectError) in
            var count = 0
            for name in try stagings.names() where name != process.name {
                // Its owner lives as long as it has the lock.
                guard let folder = try stagings.folder(name), folder.lock() else { continue }
                for version in try folder.names() {
                    if !isDryRun { try folder.removeWrite(version) }
                    count += 1
                }
                if !isDryRun { try stagings.remove(name, isFolder: true) }
            }
            return count
        }
    }
}

extension Folder {
    /// Removes what a write began with, from its process's folder.
    func removeWrite(_ version: String) throws(ObjectError) {
        guard let folder = try folder(version) else { return }
        for name in try folder.names() { try folder.remove(name) }
        try remove(version, isFolder: true)
    }
}
