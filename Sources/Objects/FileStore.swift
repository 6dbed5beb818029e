import Glibc

/// Objects as files: `{bucket}/{folder}/{name}.{version}[.{variant}].jpg` below a folder.
///
/// A write begins below `.staging/{process}/{version}/`, where each process has a folder that it holds a lock on.
/// The files are written there and brought to the disk, then renamed to their place, and the folder of
/// the place is brought to the disk. The version's own folder under `.staging` stays until the write is settled:
/// it tells a sweep that a row may come. A lock that is free tells it that none will.
package struct FileStore: ObjectStore {
    private let root: Folder
    private let stagings: Folder
    private let threads = FileThreads.shared
    private let process = Staging()

    /// - Parameter path: made where it is missing, readable by this user only.
    package init(_ path: String) throws(ObjectError) {
        root = try Folder.root(path)
        stagings = try root.makeFolder(".staging")
    }

    package func write(
        _ key: ObjectKey, version: String, _ variants: [ObjectVariant: [UInt8]]
    ) async throws(ObjectError) -> PendingWrite {
        try await threads.run { () throws(ObjectError) in
            let write = PendingWrite(key: key, version: version)
            do throws(ObjectError) {
                let staging = try process.folder(in: stagings).makeFolder(version)
                for (variant, bytes) in variants {
                    try staging.create(variant.rawValue, bytes)
                }
                try publish(write, Array(variants.keys), from: staging)
            } catch {
                undo(write)
                throw error
            }
            return write
        }
    }

    /// Gives the finished files their names. The folder may be removed meanwhile, with the last object of it.
    private func publish(
        _ write: PendingWrite, _ variants: [ObjectVariant], from staging: Folder
    ) throws(ObjectError) {
        let names = variants.compactMap { variant in
            ObjectPath(write.key, version: write.version, variant).map { (variant, $0.fileName) }
        }
        guard names.count == variants.count else {
            throw .failed("naming a version", errno: EINVAL)
        }
        let bucket = try root.makeFolder(write.key.bucket.rawValue)
        for attempt in 1... {
            do throws(ObjectError) {
                let place = try bucket.makeFolder(write.key.folder)
                for (variant, name) in names {
                    try staging.rename(variant.rawValue, to: place, name)
                }
                return try place.synchronize()
            } catch .failed(_, errno: ENOENT) where attempt < Self.publishAttemptsMax {
                continue
            }
        }
    }

    private static let publishAttemptsMax = 5

    package func settle(_ write: PendingWrite) async {
        try? await threads.run { () throws(ObjectError) in
            try process.folder(in: stagings).remove(write.version, isFolder: true)
        }
    }

    package func abandon(_ write: PendingWrite) async {
        try? await threads.run { () throws(ObjectError) in undo(write) }
    }

    /// Leaves to a sweep what cannot be removed now.
    private func undo(_ write: PendingWrite) {
        try? removeVersion(write.key, write.version)
        guard let staging = try? process.folder(in: stagings) else { return }
        try? Self.removeWrite(write.version, from: staging)
    }

    package func open(_ path: ObjectPath) async throws(ObjectError) -> OpenObject? {
        try await threads.run { () throws(ObjectError) in try openNow(path) }
    }

    /// As `open`, on the caller's thread: the name is looked up in memory as a rule.
    package func openNow(_ path: ObjectPath) throws(ObjectError) -> OpenObject? {
        try root.folder(path.key.bucket.rawValue)?.folder(path.key.folder)?.open(path.fileName)
    }

    package func remove(_ key: ObjectKey, version: String) async throws(ObjectError) {
        try await threads.run { () throws(ObjectError) in try removeVersion(key, version) }
    }

    private func removeVersion(_ key: ObjectKey, _ version: String) throws(ObjectError) {
        guard let bucket = try root.folder(key.bucket.rawValue),
            let place = try bucket.folder(key.folder)
        else { return }
        for variant in ObjectVariant.allCases {
            guard let path = ObjectPath(key, version: version, variant) else { continue }
            try place.remove(path.fileName)
        }
        try bucket.remove(key.folder, isFolder: true)
    }

    package func removeFolder(
        _ folder: String, of bucket: Bucket
    ) async throws(ObjectError) -> Int {
        try await threads.run { () throws(ObjectError) in
            guard let parent = try root.folder(bucket.rawValue),
                let place = try parent.folder(folder)
            else { return 0 }
            var versions: Set<String> = []
            for name in try place.names() {
                if let path = ObjectPath(bucket, folder: folder, fileName: name) {
                    versions.insert("\(path.key.name).\(path.version)")
                }
                try place.remove(name)
            }
            try parent.remove(folder, isFolder: true)
            return versions.count
        }
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
                    let count = place.byteCount(of: name)
                {
                    listing.objects.append((path, count))
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

    private func pendingVersions() throws(ObjectError) -> Set<String> {
        var versions: Set<String> = []
        for name in try stagings.names() {
            versions.formUnion(try stagings.folder(name)?.names() ?? [])
        }
        return versions
    }

    package func sweepDeadWrites() async throws(ObjectError) -> Int {
        try await threads.run { () throws(ObjectError) in
            var count = 0
            for name in try stagings.names() where name != process.name {
                // Its owner lives as long as it has the lock.
                guard let folder = try stagings.folder(name), folder.lock() else { continue }
                for version in try folder.names() {
                    try Self.removeWrite(version, from: folder)
                    count += 1
                }
                try stagings.remove(name, isFolder: true)
            }
            return count
        }
    }

    private static func removeWrite(_ version: String, from staging: Folder) throws(ObjectError) {
        guard let folder = try staging.folder(version) else { return }
        for name in try folder.names() { try folder.remove(name) }
        try staging.remove(version, isFolder: true)
    }
}
