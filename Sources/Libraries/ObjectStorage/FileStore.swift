import Glibc

/// An object store of files: `{bucket}/{folder}/{name}.{version}[.{variant}].jpg` below a root folder.
///
/// **State.** Each process has a folder `.staging/{process}` and holds a lock on it as long as it runs. A write
/// in progress has a folder `.staging/{process}/{version}.{object}` until it is settled or abandoned.
///
/// **Invariant.** A file in a bucket is complete and durable. If its version is in the staging folder of a
/// running process, a row may still be inserted for it. Otherwise its row has been
/// inserted already, or never will be.
///
/// **Steps of a write.**
/// 1. Create the version's staging folder, and write and sync the files in it.
/// 2. Rename the files into the bucket, and sync the folder there.
/// 3. The caller inserts its row and calls `settle`, which removes the staging folder. If there will be no
///    row, the caller calls `abandon`, which also removes the files.
///
/// **Crash recovery.** A sweep skips versions in staging folders that are locked. It removes staging folders
/// that it can lock itself, because their process has ended. Files without a row are orphans from then on.
package struct FileStore: ObjectStore {
    let root: Folder
    let stagings: Folder
    let threads = FileThreads.shared
    let process = Staging()

    /// - Parameter path: The root folder; created if it is missing, accessible only to this user.
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
                try create(write, variants)
            } catch {
                undo(write)
                throw error
            }
            return write
        }
    }

    package func restore(
        _ key: ObjectKey, version: String, _ variants: [ObjectVariant: [UInt8]]
    ) async throws(ObjectError) {
        try await threads.run { () throws(ObjectError) in
            let write = PendingWrite(key: key, version: version)
            defer { removeStaging(of: write) }
            try create(write, variants)
        }
    }

    /// Stages the files of a version and renames them into the bucket. Files with the same names are replaced.
    private func create(
        _ write: PendingWrite, _ variants: [ObjectVariant: [UInt8]]
    ) throws(ObjectError) {
        let staging = try process.folder(in: stagings).makeFolder(write.stagingName)
        for (variant, bytes) in variants { try staging.create(variant.rawValue, bytes) }
        try publish(write, Array(variants.keys), from: staging)
    }

    /// Renames the staged files into the bucket.
    ///
    /// It tries again when the target folder disappears, because removing the last object removes the folder.
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
                let target = try bucket.makeFolder(write.key.folder)
                for (variant, name) in names {
                    try staging.rename(variant.rawValue, to: target, name)
                }
                return try target.synchronize()
            } catch .failed(_, errno: ENOENT) where attempt < Self.publishAttemptsMax {
                continue
            }
        }
    }

    private static let publishAttemptsMax = 5

    package func settle(_ write: PendingWrite) async {
        try? await threads.run { () throws(ObjectError) in
            try process.folder(in: stagings).remove(write.stagingName, isFolder: true)
        }
    }

    package func abandon(_ write: PendingWrite) async {
        try? await threads.run { () throws(ObjectError) in undo(write) }
    }

    /// Removes the files of a write. A sweep removes what cannot be removed now.
    private func undo(_ write: PendingWrite) {
        try? removeVersion(write.key, write.version)
        removeStaging(of: write)
    }

    private func removeStaging(of write: PendingWrite) {
        guard let staging = try? process.folder(in: stagings) else { return }
        try? staging.removeWrite(write.stagingName)
    }

    package func open(_ path: ObjectPath) async throws(ObjectError) -> ObjectContent? {
        try await threads.run { () throws(ObjectError) in try openNow(path).map { .file($0) } }
    }

    package func read(_ path: ObjectPath) async throws(ObjectError) -> [UInt8]? {
        try await threads.run { () throws(ObjectError) in try openNow(path)?.bytes() }
    }

    package func byteCount(_ path: ObjectPath) async throws(ObjectError) -> Int? {
        try await threads.run { () throws(ObjectError) in try openNow(path)?.byteCount }
    }

    /// Opens a file synchronously. This rarely blocks, because the kernel caches directory entries.
    package func openNow(_ path: ObjectPath) throws(ObjectError) -> OpenObject? {
        try root.folder(path.key.bucket.rawValue)?.folder(path.key.folder)?.open(path.fileName)
    }

    package func remove(_ key: ObjectKey, version: String) async throws(ObjectError) {
        try await threads.run { () throws(ObjectError) in try removeVersion(key, version) }
    }

    package func removeFile(_ path: ObjectPath) async throws(ObjectError) {
        try await threads.run { () throws(ObjectError) in
            guard let bucket = try root.folder(path.key.bucket.rawValue),
                let folder = try bucket.folder(path.key.folder)
            else { return }
            try folder.remove(path.fileName)
            try bucket.remove(path.key.folder, isFolder: true)
        }
    }

    private func removeVersion(_ key: ObjectKey, _ version: String) throws(ObjectError) {
        guard let bucket = try root.folder(key.bucket.rawValue),
            let folder = try bucket.folder(key.folder)
        else { return }
        for variant in ObjectVariant.allCases {
            guard let path = ObjectPath(key, version: version, variant) else { continue }
            try folder.remove(path.fileName)
        }
        try bucket.remove(key.folder, isFolder: true)
    }

    package func removeFolder(
        _ folder: String, of bucket: Bucket
    ) async throws(ObjectError) -> Int {
        try await threads.run { () throws(ObjectError) in
            guard let parent = try root.folder(bucket.rawValue),
                let target = try parent.folder(folder)
            else { return 0 }
            var versions: Set<String> = []
            for name in try target.names() {
                if let path = ObjectPath(bucket, folder: folder, fileName: name) {
                    versions.insert("\(path.key.name).\(path.version)")
                }
                try target.remove(name)
            }
            try parent.remove(folder, isFolder: true)
            return versions.count
        }
    }
}
