/// Records the writes in progress of a store that has no file locks.
///
/// A lease begins before the first file of a version is written, and ends after its row was inserted. Until then, and
/// until the lease expires, sweeps ignore the version. The lease of a process that has died expires.
package protocol WriteLeases: Sendable {
    /// Begins or extends the lease of a version.
    ///
    /// - Parameter version: The path of the version below the store's root.
    func begin(_ version: String, seconds: Int) async throws(ObjectError)

    func end(_ version: String) async throws(ObjectError)

    /// Returns the versions with leases that have not expired.
    func pending() async throws(ObjectError) -> Set<String>

    /// Removes the leases that have expired.
    ///
    /// - Returns: The number of these leases. In a dry run they are only counted.
    func removeExpired(isDryRun: Bool) async throws(ObjectError) -> Int
}
