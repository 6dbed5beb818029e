import ObjectStorage

/// The parsed path and query of an object's URL: `/{bucket}/{folder}/{name}.jpg?size=…&v=…`.
///
/// The path is not decoded. It must consist of two UUIDs in lower case, or of one in a bucket without folders. Any
/// other path is invalid, even if decoding would make it valid.
struct ObjectURL {
    let key: ObjectKey
    /// nil if the requested size does not exist.
    let variant: ObjectVariant?
    /// The requested version; nil if the URL has none.
    let version: String?

    init?(path: Substring, query: Substring?) {
        guard let key = Self.key(path) else { return nil }
        self.key = key
        var variant: ObjectVariant? = .full
        var version: String?
        for parameter in (query ?? "").split(separator: "&") {
            if parameter.hasPrefix("size=") {
                variant = ObjectVariant(rawValue: String(parameter.dropFirst(5)))
            } else if parameter.hasPrefix("v=") {
                version = String(parameter.dropFirst(2))
            }
        }
        self.variant = variant
        self.version = version
    }

    static func key(_ path: Substring) -> ObjectKey? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3 || parts.count == 4, parts[0].isEmpty,
            let bucket = Bucket(rawValue: String(parts[1])),
            let file = parts.last, file.hasSuffix(".jpg")
        else { return nil }
        let name = file.dropLast(4)
        switch (bucket, parts.count) {
        case (.bookCovers, 4) where parts[2].utf8.count == 36,
            (.titleCards, 4) where parts[2].utf8.count == 36:
            return ObjectKey(bucket, folder: parts[2], name: name)
        case (.titleCards, 3), (.editionCovers, 3):
            // Images of the catalog, which belong to no user. The folder is a prefix of the name.
            return ObjectKey(bucket, folder: name.prefix(2), name: name)
        default:
            return nil
        }
    }
}
