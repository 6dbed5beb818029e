/// The places that objects are kept in, by what is in them.
package enum Bucket: String, Sendable, CaseIterable {
    case bookCovers = "book-covers"
    case titleCards = "title-cards"
    case editionCovers = "edition-covers"
}

/// What clients call an object: `{folder}/{name}.jpg` of a bucket. Its versions are files beside one another.
package struct ObjectKey: Sendable, Hashable {
    package let bucket: Bucket
    package let folder: String
    package let name: String

    /// - Returns: nil unless the folder is a UUID or its first two digits and the name a UUID, in lower case.
    package init?(_ bucket: Bucket, folder: some StringProtocol, name: some StringProtocol) {
        guard isUUID(folder.utf8) || (folder.utf8.count == 2 && folder.utf8.allSatisfy(isHexDigit)),
            isUUID(name.utf8)
        else { return nil }
        self.bucket = bucket
        self.folder = String(folder)
        self.name = String(name)
    }
}

/// One of the sizes of an image.
package enum ObjectVariant: String, Sendable, CaseIterable {
    case thumbnail, full, large
}

/// One file: a variant of a version of an object. Its bytes never change.
///
/// A version is the beginning of the hash of its content, and a random rest that keeps two uploads of one
/// picture apart: what is removed with the one is never the other's.
package struct ObjectPath: Sendable, Hashable {
    package let key: ObjectKey
    package let version: String
    package let variant: ObjectVariant

    /// - Returns: nil where the version is not 32 hexadecimal digits in lower case.
    package init?(_ key: ObjectKey, version: some StringProtocol, _ variant: ObjectVariant) {
        guard version.utf8.count == 32, version.utf8.allSatisfy(isHexDigit) else { return nil }
        self.key = key
        self.version = String(version)
        self.variant = variant
    }

    /// `NAME.VERSION.jpg` of the full size, `NAME.VERSION.VARIANT.jpg` of the others.
    package var fileName: String {
        variant == .full
            ? "\(key.name).\(version).jpg" : "\(key.name).\(version).\(variant.rawValue).jpg"
    }

    /// What a file of that name in that folder is; nil for one that is none of ours.
    package init?(_ bucket: Bucket, folder: String, fileName: String) {
        let parts = fileName.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.last == "jpg", parts.count == 3 || parts.count == 4,
            let key = ObjectKey(bucket, folder: folder, name: parts[0]),
            let variant = parts.count == 3 ? .full : ObjectVariant(rawValue: String(parts[2])),
            parts.count == 3 || variant != .full
        else { return nil }
        self.init(key, version: parts[1], variant)
    }
}

private func isHexDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
}

/// The form `8-4-4-4-12` in lower case.
private func isUUID(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.count == 36
        && bytes.enumerated().allSatisfy { position, byte in
            [8, 13, 18, 23].contains(position) ? byte == UInt8(ascii: "-") : isHexDigit(byte)
        }
}
