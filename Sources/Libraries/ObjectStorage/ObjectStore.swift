import Glibc

/// A store of immutable objects, such as images.
///
/// Objects are never changed in place. To store a new version, call `write`, which makes the files durable,
/// then insert a row that refers to the version, and then call `settle`. A row therefore always has its
/// files. If the process crashes in between, `sweepStaleWrites` and a comparison of `pages` with the rows find
/// the files without a row.
package protocol ObjectStore: Sendable {
    /// Makes the files of one version durable and readable.
    ///
    /// - Throws: An `ObjectError`, after it has removed the files that it created.
    func write(
        _ key: ObjectKey, version: String, _ variants: [ObjectVariant: [UInt8]]
    ) async throws(ObjectError) -> PendingWrite

    /// Stores files of a version that has its row already, such as those that the store has lost.
    ///
    /// - Throws: An `ObjectError`. All files of the version that the store has are kept.
    func restore(
        _ key: ObjectKey, version: String, _ variants: [ObjectVariant: [UInt8]]
    ) async throws(ObjectError)

    /// Completes a write after its row was inserted.
    func settle(_ write: PendingWrite) async

    /// Undoes a write that will have no row.
    func abandon(_ write: PendingWrite) async

    /// Returns what a server sends to clients that request a file; nil if the file does not exist. The existence of a
    /// file at a URL is not checked.
    func open(_ path: ObjectPath) async throws(ObjectError) -> ObjectContent?

    /// Returns the whole contents of a file; nil if it does not exist.
    func read(_ path: ObjectPath) async throws(ObjectError) -> [UInt8]?

    /// Returns the size of a file; nil if it does not exist.
    func byteCount(_ path: ObjectPath) async throws(ObjectError) -> Int?

    /// Removes a version. A missing version is not an error.
    func remove(_ key: ObjectKey, version: String) async throws(ObjectError)

    /// Removes one file of a version, such as a damaged one. A missing file is not an error.
    func removeFile(_ path: ObjectPath) async throws(ObjectError)

    /// Removes all contents of a folder, including files that are not objects.
    ///
    /// - Returns: The number of versions removed.
    func removeFolder(_ folder: String, of bucket: Bucket) async throws(ObjectError) -> Int

    /// Records the owner of the store, unless it has one.
    ///
    /// - Parameter owner: The installation whose rows refer to the objects.
    /// - Returns: False if the store belongs to another installation.
    func claim(for owner: String) async throws(ObjectError) -> Bool

    /// Returns whether the store belongs to this owner; nil if it has no owner.
    func isClaimed(by owner: String) async throws(ObjectError) -> Bool?

    /// Returns the files of a folder, except those of writes in progress.
    ///
    /// Each listed file has its row already or will never have one.
    func list(_ folder: String, of bucket: Bucket) async throws(ObjectError) -> ObjectListing

    /// Returns the files of a bucket in pages.
    ///
    /// - Parameters:
    ///   - position: The position of an earlier page, after which the first page starts; nil for the first page of the
    ///     bucket.
    ///   - includesWrites: Whether the files of writes in progress may be included, for a caller that looks for their rows
    ///     after the listing. The write of a server that died counts as in progress until its lease has expired.
    func pages(
        of bucket: Bucket, after position: String?, includesWrites: Bool
    ) async throws(ObjectError) -> any ObjectPages

    /// Removes the records of writes that ended processes have left.
    ///
    /// - Returns: The number of these writes. In a dry run they are only counted.
    func sweepStaleWrites(isDryRun: Bool) async throws(ObjectError) -> Int
}

extension ObjectStore {
    /// Returns the whole contents of a file; nil if it does not exist or is unreadable.
    ///
    /// - Throws: An `ObjectError` if the store itself cannot be read.
    package func readUnlessDamaged(_ path: ObjectPath) async throws(ObjectError) -> [UInt8]? {
        do throws(ObjectError) {
            return try await read(path)
        } catch {
            guard error.isOfOneFile else { throw error }
            return nil
        }
    }
}

/// The response to a client that requests a file.
package enum ObjectContent: Sendable {
    case file(OpenObject)
    case bytes([UInt8])
    /// The public URL of the file.
    case url(String)
}

/// Files of a bucket.
package struct ObjectListing: Sendable {
    package struct File: Sendable {
        package let path: ObjectPath
        package let byteCount: Int
        /// When the file became readable, in seconds since the Unix epoch.
        package let createdAt: Int64

        package init(path: ObjectPath, byteCount: Int, createdAt: Int64) {
            self.path = path
            self.byteCount = byteCount
            self.createdAt = createdAt
        }
    }

    package var objects: [File] = []
    /// The paths below the bucket of files that are not objects of this store.
    package var unknownFiles: [String] = []

    package init() {}
}

/// The files of a bucket in pages, in ascending order of their positions. All files of a version are on the same page.
package protocol ObjectPages: Sendable {
    /// Returns the next page with its position; nil after the last page.
    func next() async throws(ObjectError) -> (position: String, listing: ObjectListing)?
}

/// A write that is durable but not settled yet.
package struct PendingWrite: Sendable {
    package let key: ObjectKey
    package let version: String

    package init(key: ObjectKey, version: String) {
        self.key = key
        self.version = version
    }
}

package enum ObjectError: Error, Equatable, Sendable {
    /// The disk is full or a quota is exceeded; nothing was changed.
    case full
    /// A system call failed; carries the attempted operation and errno.
    case failed(String, errno: Int32)
    /// A request to a bucket or to the database of its leases failed; carries the reason.
    case unavailable(String)

    /// Whether the error may concern only one file, which the kernel cannot read. Other files can be read then.
    package var isOfOneFile: Bool {
        guard case .failed(_, let code) = self else { return false }
        return ![EMFILE, ENFILE, ENOMEM].contains(code)
    }

    /// A message for the operator.
    package var description: String {
        switch self {
        case .full: "the object store is full"
        case .failed(let what, let code): "\(what): errno \(code)"
        case .unavailable(let reason): reason
        }
    }
}
