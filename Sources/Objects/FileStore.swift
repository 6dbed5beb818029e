import Glibc

/// Objects as files: `{bucket}/{folder}/{name}.{version}[.{variant}].jpg` below a folder.
///
/// A write begins below `.staging/{process}/{version}/`, where each process has a folder that it holds a lock on.
/// The files are written there and brought to the disk, then renamed to their place, and the folder of
/// the place is brought to the disk. The version's own folder under `.staging` stays until the write is settled:
/// it tells a sweep that a row may come. A lock that is free tells it that none will.
package struct FileStore: ObjectStore {
    let root: Folder
    let stagings: Folder
    let threads = FileThreads.shared
    let process = Staging()

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
        try? staging.removeWrite(write.version)
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
}
