import Config
import FoundationEssentials
import HTTPFetch
import Identity
import ObjectStorage
import Telemetry

/// An object store in a bucket of S3 or a compatible service. Objects have the same names as in a `FileStore`:
/// `{prefix}{bucket}/{folder}/{name}.{version}[.{variant}].jpg`. In these names, `bucket` is a `Bucket` of the store,
/// such as that of the covers, and not the bucket of the service.
///
/// **Steps of a write.**
/// 1. Begin a lease of the version in the database.
/// 2. Put the objects. A put is atomic and durable.
/// 3. The caller inserts its row and calls `settle`, which ends the lease. If there will be no row, the caller calls
///    `abandon`, which first removes the objects.
///
/// **Crash recovery.** Listings omit versions with a lease. The lease of a process that has died expires; objects without
/// a row are orphans from then on. A write ends long before its lease does.
package struct S3Store: ObjectStore {
    let client: S3Client
    let leases: any WriteLeases

    /// How long a lease lasts: longer than all attempts to put the objects, and the transaction after them.
    static let leaseSeconds = 15 * 60
    private static let contentType = "image/jpeg"
    private static let cacheControl = "public, max-age=31536000, immutable"
    /// The name of the object that records the owner of the store.
    private static let ownerName = ".owner"

    /// - Throws: `.unavailable` if the endpoint is not a URL. No request is sent.
    package init(
        _ settings: Configuration.S3, leases: any WriteLeases, metrics: Metrics? = nil,
        timeout: Duration
    ) throws(ObjectError) {
        client = try S3Client(settings, metrics: metrics, timeout: timeout)
        self.leases = leases
    }

    // MARK: - Names

    private func name(of path: ObjectPath) -> String {
        "\(name(of: path.key.bucket))\(path.key.folder)/\(path.fileName)"
    }

    /// The prefix of the names in a bucket of the store.
    func name(of bucket: Bucket) -> String { "\(client.settings.prefix)\(bucket.rawValue)/" }

    /// The name of a version's lease.
    private func leaseName(_ key: ObjectKey, _ version: String) -> String {
        "\(key.bucket.rawValue)/\(key.folder)/\(key.name).\(version)"
    }

    // MARK: - Writing

    package func write(
        _ key: ObjectKey, version: String, _ variants: [ObjectVariant: [UInt8]]
    ) async throws(ObjectError) -> PendingWrite {
        let write = PendingWrite(key: key, version: version)
        let files = try files(key, version, variants)
        try await leases.begin(leaseName(key, version), seconds: Self.leaseSeconds)
        let end = client.end
        do throws(ObjectError) {
            try await put(files, by: end)
        } catch {
            // Not if the time is over: a sweep removes the objects when the lease has expired.
            await abandon(write, by: end)
            throw error
        }
        return write
    }

    package func restore(
        _ key: ObjectKey, version: String, _ variants: [ObjectVariant: [UInt8]]
    ) async throws(ObjectError) {
        // The version has its row, so sweeps keep its objects without a lease.
        try await put(try files(key, version, variants), by: client.end)
    }

    private func files(
        _ key: ObjectKey, _ version: String, _ variants: [ObjectVariant: [UInt8]]
    ) throws(ObjectError) -> [(name: String, bytes: [UInt8])] {
        var files: [(name: String, bytes: [UInt8])] = []
        for (variant, bytes) in variants {
            guard let path = ObjectPath(key, version: version, variant) else {
                throw .unavailable("The version of an object is invalid.")
            }
            files.append((name(of: path), bytes))
        }
        return files
    }

    private func put(
        _ files: [(name: String, bytes: [UInt8])], by end: ContinuousClock.Instant
    ) async throws(ObjectError) {
        let failures = await withTaskGroup(of: ObjectError?.self) { group in
            for file in files {
                group.addTask {
                    do throws(ObjectError) {
                        try await put(
                            file.name, file.bytes,
                            [(name: "Cache-Control", value: Self.cacheControl)], by: end)
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            return await group.reduce(into: [ObjectError]()) { failures, failure in
                if let failure { failures.append(failure) }
            }
        }
        if let failure = failures.first { throw failure }
    }

    private func put(
        _ name: String, _ bytes: [UInt8], _ headers: [(name: String, value: String)],
        by end: ContinuousClock.Instant
    ) async throws(ObjectError) {
        _ = try await client.send(
            .init(
                method: .put(body: bytes, contentType: Self.contentType), name: name,
                headers: client.checksumHeaders(bytes) + headers), "storing an object", by: end)
    }

    package func settle(_ write: PendingWrite) async {
        // Not cancelled with the request: until a lease ends, listings do not contain the version.
        let (leases, name) = (leases, leaseName(write.key, write.version))
        await Task { try? await leases.end(name) }.value
    }

    package func abandon(_ write: PendingWrite) async {
        await abandon(write, by: client.end)
    }

    private func abandon(_ write: PendingWrite, by end: ContinuousClock.Instant) async {
        // A sweep removes objects that cannot be removed now.
        guard (try? await remove(write.key, version: write.version, by: end)) != nil else { return }
        try? await leases.end(leaseName(write.key, write.version))
    }

    package func remove(_ key: ObjectKey, version: String) async throws(ObjectError) {
        try await remove(key, version: version, by: client.end)
    }

    private func remove(
        _ key: ObjectKey, version: String, by end: ContinuousClock.Instant
    ) async throws(ObjectError) {
        try await client.delete(
            ObjectVariant.allCases.compactMap { variant in
                ObjectPath(key, version: version, variant).map { name(of: $0) }
            }, by: end)
    }

    package func removeFile(_ path: ObjectPath) async throws(ObjectError) {
        try await client.delete([name(of: path)])
    }

    package func removeFolder(
        _ folder: String, of bucket: Bucket
    ) async throws(ObjectError) -> Int {
        let prefix = "\(name(of: bucket))\(folder)/"
        var versions: Set<String> = []
        var previousFirst: String?
        while true {
            let page = try await client.list(prefix, after: nil)
            // Names are never reused. If the first name is that of the previous page, the service has not deleted the
            // object.
            if let first = page.entries.first?.name, first == previousFirst {
                throw .unavailable("removing objects: the service did not remove them")
            }
            previousFirst = page.entries.first?.name
            for entry in page.entries {
                let fileName = String(entry.name.dropFirst(prefix.count))
                if let path = ObjectPath(bucket, folder: folder, fileName: fileName) {
                    versions.insert("\(path.key.name).\(path.version)")
                }
            }
            try await client.delete(page.entries.map(\.name))
            if !page.hasMore { return versions.count }
        }
    }

    // MARK: - Reading

    package func open(_ path: ObjectPath) async throws(ObjectError) -> ObjectContent? {
        if let publicURL = client.settings.publicURL {
            return .url("\(publicURL)/\(name(of: path))")
        }
        return try await read(path).map { .bytes($0) }
    }

    package func read(_ path: ObjectPath) async throws(ObjectError) -> [UInt8]? {
        try await read(name(of: path))
    }

    private func read(_ name: String) async throws(ObjectError) -> [UInt8]? {
        let response = try await client.send(
            .init(method: .get, name: name), "reading an object", accepting: [404])
        guard response.status == 404 else { return response.body }
        // A missing bucket is not a missing object: the operator has configured a wrong name.
        guard S3Document(response.body)?.text("Code") != "NoSuchBucket" else {
            throw .unavailable("reading an object: the bucket does not exist")
        }
        return nil
    }

    package func byteCount(_ path: ObjectPath) async throws(ObjectError) -> Int? {
        let response = try await client.send(
            .init(method: .head, name: name(of: path)), "finding an object", accepting: [404])
        if response.status == 404 { return nil }
        guard let byteCount = response.header("Content-Length").flatMap({ Int($0) }) else {
            throw .unavailable("finding an object: the response has no length")
        }
        return byteCount
    }

    // MARK: - Owner

    package func claim(for owner: String) async throws(ObjectError) -> Bool {
        if let isClaimed = try await isClaimed(by: owner) { return isClaimed }
        let bytes = Array(owner.utf8)
        let response = try await client.send(
            .init(
                method: .put(body: bytes, contentType: "text/plain"), name: ownerName,
                headers: client.checksumHeaders(bytes) + [(name: "If-None-Match", value: "*")]),
            "recording the owner of the store", accepting: [412, 501])
        if response.status == 501 {
            // The server does not support conditional requests.
            try await put(ownerName, bytes, [], by: client.end)
        }
        return try await isClaimed(by: owner) ?? false
    }

    package func isClaimed(by owner: String) async throws(ObjectError) -> Bool? {
        try await read(ownerName).map { $0 == Array(owner.utf8) }
    }

    private var ownerName: String { client.settings.prefix + Self.ownerName }

    // MARK: - Listing

    package func list(
        _ folder: String, of bucket: Bucket
    ) async throws(ObjectError) -> ObjectListing {
        let prefix = "\(name(of: bucket))\(folder)/"
        var entries: [S3ListPage.Entry] = []
        while true {
            let page = try await client.list(prefix, after: entries.last?.name)
            entries += page.entries
            if !page.hasMore { return try await listing(of: bucket, entries) }
        }
    }

    package func pages(
        of bucket: Bucket, after position: String?, includesWrites: Bool
    ) async throws(ObjectError) -> any ObjectPages {
        S3Pages(self, bucket, after: position, includesWrites: includesWrites)
    }

    /// Returns the files of a page, by default without those of writes in progress.
    func listing(
        of bucket: Bucket, _ entries: [S3ListPage.Entry], includesWrites: Bool = false
    ) async throws(ObjectError) -> ObjectListing {
        var listing = ObjectListing()
        let root = name(of: bucket)
        for entry in entries {
            let name = String(entry.name.dropFirst(root.count))
            let parts = name.split(
                separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2,
                let path = ObjectPath(
                    bucket, folder: String(parts[0]), fileName: String(parts[1]))
            {
                listing.objects.append(
                    .init(
                        path: path, byteCount: entry.byteCount, createdAt: entry.modifiedAt))
            } else {
                listing.unknownFiles.append(name)
            }
        }
        guard !listing.objects.isEmpty, !includesWrites else { return listing }
        // Read after the objects: a listed version that is no longer pending has its row or never will.
        let pending = try await leases.pending()
        listing.objects.removeAll { pending.contains(leaseName($0.path.key, $0.path.version)) }
        return listing
    }

    package func sweepStaleWrites(isDryRun: Bool) async throws(ObjectError) -> Int {
        try await leases.removeExpired(isDryRun: isDryRun)
    }
}

extension S3Client {
    /// Headers with which the server verifies the body that it receives.
    func checksumHeaders(_ body: [UInt8]) -> [(name: String, value: String)] {
        // Libraries in FIPS mode have no MD5.
        if let digest = md5(body) {
            return [(name: "Content-MD5", value: Data(digest).base64EncodedString())]
        }
        return [(name: "x-amz-checksum-sha256", value: Data(sha256(body)).base64EncodedString())]
    }
}
