import ObjectStorage

/// A page of the names in a bucket that start with a prefix (ListObjectsV2).
struct S3ListPage {
    struct Entry {
        let name: String
        let byteCount: Int
        /// In seconds since the Unix epoch.
        let modifiedAt: Int64
    }

    var entries: [Entry]
    /// Whether names follow after the last entry.
    var hasMore: Bool
}

extension S3Client {
    /// Lists names in ascending order.
    ///
    /// - Parameters:
    ///   - prefix: The beginning of the names, including the prefix of the store.
    ///   - name: The name after which the page starts; nil for the first page.
    func list(_ prefix: String, after name: String?) async throws(ObjectError) -> S3ListPage {
        let what = "listing the bucket"
        var request = Request(method: .get)
        request.query = [("list-type", "2"), ("max-keys", "1000"), ("prefix", prefix)]
        if let name { request.query.append(("start-after", name)) }
        let response = try await send(request, what, by: .now + Self.bulkTimeout)
        guard let document = S3Document(response.body), document.root == "ListBucketResult" else {
            throw .unavailable("\(what): the response is not a listing")
        }
        var entries: [S3ListPage.Entry] = []
        for element in document.elements("Contents") {
            guard let key = element["Key"], let byteCount = element["Size"].flatMap({ Int($0) }),
                Self.sizes.contains(byteCount),
                let modifiedAt = element["LastModified"].flatMap(unixSeconds(ofISO:))
            else { throw .unavailable("\(what): the response is not a listing") }
            // A server that does not support `start-after` would return the same page forever.
            if let last = entries.last?.name ?? name,
                !(last.utf8.lexicographicallyPrecedes(key.utf8))
            {
                throw .unavailable("\(what): the names are not sorted")
            }
            entries.append(.init(name: key, byteCount: byteCount, modifiedAt: modifiedAt))
        }
        let hasMore = document.text("IsTruncated") == "true"
        // The next page is requested by the last name of this one.
        if hasMore, entries.isEmpty {
            throw .unavailable("\(what): a page without names is not the last")
        }
        return S3ListPage(entries: entries, hasMore: hasMore)
    }

    /// The sizes of objects that are accepted, in bytes.
    private static let sizes = 0...(1 << 40)

    /// Deletes at most 1000 objects (DeleteObjects). A missing object is not an error.
    func delete(
        _ names: [String], by end: ContinuousClock.Instant = .now + bulkTimeout
    ) async throws(ObjectError) {
        guard !names.isEmpty else { return }
        let what = "removing objects"
        let objects = names.map { "<Object><Key>\(S3Document.escaped($0))</Key></Object>" }
        let body = Array(
            (#"<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>"#
                + objects.joined() + "</Delete>").utf8)
        let response = try await send(
            Request(
                method: .post(body: body, contentType: "application/xml"),
                query: [("delete", "")], headers: checksumHeaders(body)), what, by: end)
        guard let document = S3Document(response.body), document.root == "DeleteResult" else {
            throw .unavailable("\(what): the response is not a result")
        }
        let errors = document.elements("Error")
        if let error = errors.first {
            throw .unavailable(
                "\(what): \(errors.count) were not removed (\(error["Code"] ?? "unknown error"))")
        }
    }
}

/// The pages of files in a bucket of the store.
actor S3Pages: ObjectPages {
    private let store: S3Store
    private let bucket: Bucket
    private let includesWrites: Bool
    private var last: String?
    private var isComplete = false

    init(_ store: S3Store, _ bucket: Bucket, after position: String?, includesWrites: Bool) {
        self.store = store
        self.bucket = bucket
        self.includesWrites = includesWrites
        last = position
    }

    func next() async throws(ObjectError) -> (position: String, listing: ObjectListing)? {
        guard !isComplete else { return nil }
        let root = store.name(of: bucket)
        var page = try await store.client.list(root, after: last.map { root + $0 })
        if page.hasMore { page.removeIncompleteVersion() }
        isComplete = !page.hasMore
        guard let name = page.entries.last?.name else { return nil }
        let position = String(name.dropFirst(root.count))
        last = position
        let listing = try await store.listing(
            of: bucket, page.entries, includesWrites: includesWrites)
        return (position, listing)
    }
}

extension S3ListPage {
    /// Removes the last version, because some of its files may be on the next page. A page with only one version stays as
    /// it is.
    mutating func removeIncompleteVersion() {
        guard let last = entries.last.map({ Self.version($0.name) }) else { return }
        let rest = entries.prefix { Self.version($0.name) != last }
        if !rest.isEmpty { entries = Array(rest) }
    }

    /// The name without the suffix of the variant: `…/NAME.VERSION`.
    private static func version(_ name: String) -> Substring {
        // The prefix of the store can contain dots too.
        let fileStart = name.lastIndex(of: "/") ?? name.startIndex
        let parts = name[fileStart...].split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count > 2 else { return name[...] }
        return name[..<parts[1].endIndex]
    }
}
