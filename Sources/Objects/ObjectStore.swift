/// Where objects are kept: files now, and whatever can do the same.
///
/// Nothing is ever changed in place. A new version is written and made durable, then the caller's row names it, then
/// the write is settled; so a row always has its bytes. What a crash leaves without a row is found by `sweep`.
package protocol ObjectStore: Sendable {
    /// Makes the files of one version durable and readable.
    ///
    /// - Throws: with nothing left behind.
    func write(
        _ key: ObjectKey, version: String, _ variants: [ObjectVariant: [UInt8]]
    ) async throws(ObjectError) -> PendingWrite

    /// Ends a write whose row is there: from now on only the row keeps its files.
    func settle(_ write: PendingWrite) async

    /// Takes back a write that gets no row.
    func abandon(_ write: PendingWrite) async

    /// Opens a file; nil where there is none.
    func open(_ path: ObjectPath) async throws(ObjectError) -> OpenObject?

    /// Removes a version; one that is gone is no error.
    func remove(_ key: ObjectKey, version: String) async throws(ObjectError)

    /// Removes everything of a folder, in whatever state it is.
    ///
    /// - Returns: how many versions there were.
    func removeFolder(_ folder: String, of bucket: Bucket) async throws(ObjectError) -> Int

    /// Writes down whose store this is, where nobody has.
    ///
    /// - Parameter owner: the installation that the rows belong to.
    /// - Returns: false where it is another's, whose files no row of ours names.
    func claim(for owner: String) async throws(ObjectError) -> Bool

    /// As `claim`, but nil where nobody has.
    func isClaimed(by owner: String) async throws(ObjectError) -> Bool?

    /// The folders of a bucket, in no order.
    func folders(of bucket: Bucket) async throws(ObjectError) -> [String]

    /// What is in a folder: all files, but those of writes under way.
    ///
    /// A file that is listed has its row by now, or it will never have one.
    func list(_ folder: String, of bucket: Bucket) async throws(ObjectError) -> FolderListing

    /// Takes away what processes that have died left of their writes.
    ///
    /// - Returns: how many writes that were, or in a dry run are.
    func sweepDeadWrites(isDryRun: Bool) async throws(ObjectError) -> Int
}

/// What a folder holds.
package struct FolderListing: Sendable {
    package struct File: Sendable {
        package let path: ObjectPath
        package let byteCount: Int
        /// When it got its name, in seconds of Unix time.
        package let placedAt: Int64
    }

    package var objects: [File] = []
    /// Names of files that this store did not make.
    package var strangers: [String] = []
}

/// A write whose row is not there yet.
package struct PendingWrite: Sendable {
    package let key: ObjectKey
    package let version: String
}

package enum ObjectError: Error, Equatable, Sendable {
    /// The disk or a quota of the system is full; nothing was changed.
    case full
    /// The system refuses; the operator has to look: what was tried, and errno.
    case failed(String, errno: Int32)

    /// A sentence for the operator.
    package var description: String {
        switch self {
        case .full: "the object store is full"
        case .failed(let what, let code): "\(what): errno \(code)"
        }
    }
}
