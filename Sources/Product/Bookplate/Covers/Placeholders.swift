import Identity

/// Recognizes the placeholder images that sources return with status 200 if they do not have a cover.
enum Placeholders {
    /// The MD5 hashes of files, in lower-case hexadecimal.
    private static let fileHashes: Set<String> = [
        // "image not available" from Google Books: DUMMY_IMAGE_MD5 in calibre's Google plug-in.
        "0de4383ebad0adad5eeb8975cd796657", "a64fa89d7ebc97075c1d363fc5fea71f",
        // The empty GIF that covers.openlibrary.org returns without `default=false`.
        "0d23d0b62908b75e89014ac3f864484e",
    ]

    /// Perceptual block hashes, which match the same image in other sizes and encodings.
    private static let blockHashes: [[UInt8]] = [
        // "image not available" from Google Books, as found in several book apps that use the package image-hash.
        [
            0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xE0, 0x07, 0xE0, 0x07, 0xE0, 0x07, 0xFF, 0x9F,
            0xF8, 0x1F,
            0xF8, 0x3F, 0xFF, 0xFF, 0x80, 0x01, 0x80, 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            0xFF, 0xFF,
        ]
    ]

    /// The maximum number of differing bits of 256. Two different covers differ in about half of the bits.
    private static let differenceMax = 24

    /// Whether a file is a placeholder.
    static func match(_ bytes: [UInt8], blockHash: [UInt8]) -> Bool {
        if let digest = md5(bytes), fileHashes.contains(lowercaseHex(digest)) { return true }
        return blockHashes.contains { placeholder in
            placeholder.count == blockHash.count
                && zip(placeholder, blockHash).reduce(0) { $0 + ($1.0 ^ $1.1).nonzeroBitCount }
                    <= differenceMax
        }
    }
}
