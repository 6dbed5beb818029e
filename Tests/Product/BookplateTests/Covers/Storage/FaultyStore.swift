import ObjectStorage

/// A store whose files cannot be read or restored.
struct FaultyStore: ObjectStore {
    let base: any ObjectStore
    let error: ObjectError

    func read(_ path: ObjectPath) async throws(ObjectError) -> [UInt8]? { throw error }

    func restore(
        _ key: ObjectKey, version: String, _ variants: [ObjectVariant: [UInt8]]
    ) async throws(ObjectError) { throw error }

    func write(
        _ key: ObjectKey, version: String, _ variants: [ObjectVariant: [UInt8]]
    ) async throws(ObjectError) -> PendingWrite {
        try await base.write(key, version: version, variants)
    }

    func settle(_ write: PendingWrite) async { await base.settle(write) }

    func abandon(_ write: PendingWrite) async { await base.abandon(write) }

    func open(_ path: ObjectPath) async throws(ObjectError) -> ObjectContent? {
        try await base.open(path)
    }

    func byteCount(_ path: ObjectPath) async throws(ObjectError) -> Int? {
        try await base.byteCount(path)
    }

    func remove(_ key: ObjectKey, version: String) async throws(ObjectError) {
        try await base.remove(key, version: version)
    }

    func removeFile(_ path: ObjectPath) async throws(ObjectError) {
        try await base.removeFile(path)
    }

    func removeFolder(_ folder: String, of bucket: Bucket) async throws(ObjectError) -> Int {
        try await base.removeFolder(folder, of: bucket)
    }

    func claim(for owner: String) async throws(ObjectError) -> Bool {
        try await base.claim(for: owner)
    }

    func isClaimed(by owner: String) async throws(ObjectError) -> Bool? {
        try await base.isClaimed(by: owner)
    }

    func list(_ folder: String, of bucket: Bucket) async throws(ObjectError) -> ObjectListing {
        try await base.list(folder, of: bucket)
    }

    func pages(
        of bucket: Bucket, after position: String?, includesWrites: Bool
    ) async throws(ObjectError) -> any ObjectPages {
        try await base.pages(of: bucket, after: position, includesWrites: includesWrites)
    }

    func sweepStaleWrites(isDryRun: Bool) async throws(ObjectError) -> Int {
        try await base.sweepStaleWrites(isDryRun: isDryRun)
    }
}
