/// A store of immutable objects, such as images.
///
/// Objects are never changed in place. To store a new version, call `write`, which makes the files durable,
/// then insert a row that refers to the version, and then call `settle`. A row therefore always has its
/// files. If the process crashes in between, `sweepStaleWrites` and a comparison of `list` with the rows find
/// the files without a row.
package protocol ObjectStore: Sendable {
    /// Makes the files of one version durable and readable.
    ///
    /// - Throws: An `ObjectError`, after it has removed the files that it created.
    func write(
        _ key: ObjectKey, version: String, _ variants: [ObjectVariant: [UInt8]]
    ) async throws(ObjectError) -> PendingWrite

    /// Completes a write after its row was inserted.
    func settle(_ write: PendingWrite) async

    /// Undoes a write that will have no row.
    func abandon(_ write: PendingWrite) async

    /// Opens a file; nil if it does not exist.
    func open(_ path: ObjectPath) async throws(ObjectError) -> OpenObject?

    /// Removes a version. A missing version is not an error.
    func remove(_ key: ObjectKey, version: String) async throws(ObjectError)

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

    /// Returns the folders of a bucket, in no particular order.
    func folders(of bucket: Bucket) async throws(ObjectError) -> [String]

    /// Returns the files of a folder, except those of writes in progress.
    ///
    /// Each listed file has its row already or will never have one.
    func list(_ folder: String, of bucket: Bucket) async throws(ObjectError) -> FolderListing

    /// Removes the staging folders of writes that ended processes have left.
    ///
    /// - Returns: The number of these writes. In a dry run they are only counted.
    func sweepStaleWrites(isDryRun: Bool) async throws(ObjectError) -> Int
}

/// The contents of a folder.
package struct FolderListing: Sendable {
    package struct File: Sendable {
        package let path: ObjectPath
        package let byteCount: Int
        /// When the file was renamed into the folder, in seconds since the Unix epoch.
        package let createdAt: Int64
    }

    package var objects: [File] = []
    /// The names of files that are not objects of this store.
    package var unknownFiles: [String] = []
}

/// A write that is durable but not settled yet.
package struct PendingWrite: Sendable {
    package let key: ObjectKey
    package let version: String
}

package enum ObjectError: Error, Equatable, Sendable {
    /// The disk is full or a quota is exceeded; nothing was changed.
    case full
    /// A system call failed; carries the attempted operation and errno.
    case failed(String, errno: Int32)

    /// A message for the operator.
    package var description: String {
        switch self {
        case .full: "the object store is full"
        case .failed(let what, let code): "\(what): errno \(code)"
        }
    }
}
