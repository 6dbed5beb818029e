/// The top-level folders of the store, by the kind of their objects.
package enum Bucket: String, Sendable, CaseIterable {
    case bookCovers = "book-covers"
    case titleCards = "title-cards"
    case editionCovers = "edition-covers"
}

/// The identifier of an object: `{folder}/{name}.jpg` in a bucket. An object can have several versions.
package struct ObjectKey: Sendable, Hashable {
    package let bucket: Bucket
    package let folder: String
    package let name: String

    /// - Returns: Nil unless the folder is a UUID or the first two digits of one, and the name is a UUID, both
    ///   in lower case.
    package init?(_ bucket: Bucket, folder: some StringProtocol, name: some StringProtocol) {
        guard isUUID(folder.utf8) || (folder.utf8.count == 2 && folder.utf8.allSatisfy(isHexDigit)),
            isUUID(name.utf8)
        else { return nil }
        self.bucket = bucket
        self.folder = String(folder)
        self.name = String(name)
    }
}

/// A size of an image.
package enum ObjectVariant: String, Sendable, CaseIterable {
    case thumbnail, full, large
}

/// The path of one file: a variant of a version of an object. The contents of the file never change.
///
/// A version consists of the start of the content's hash and random digits. The random digits give two
/// uploads of the same picture different versions, so that removing one does not remove the other.
package struct ObjectPath: Sendable, Hashable {
    package let key: ObjectKey
    package let version: String
    package let variant: ObjectVariant

    /// - Returns: Nil unless the version has 32 lower-case hexadecimal digits.
    package init?(_ key: ObjectKey, version: some StringProtocol, _ variant: ObjectVariant) {
        guard version.utf8.count == 32, version.utf8.allSatisfy(isHexDigit) else { return nil }
        self.key = key
        self.version = String(version)
        self.variant = variant
    }

    /// The file name: `NAME.VERSION.jpg` for the full size, `NAME.VERSION.VARIANT.jpg` for the others.
    package var fileName: String {
        variant == .full
            ? "\(key.name).\(version).jpg" : "\(key.name).\(version).\(variant.rawValue).jpg"
    }

    /// Parses the name of a file; nil if it is not the name of an object.
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

/// Returns whether the bytes have the form `8-4-4-4-12` with lower-case hexadecimal digits.
private func isUUID(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.count == 36
        && bytes.enumerated().allSatisfy { position, byte in
            [8, 13, 18, 23].contains(position) ? byte == UInt8(ascii: "-") : isHexDigit(byte)
        }
}
