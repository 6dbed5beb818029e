import Identity

/// Pictures that services send in place of a cover they do not have, with a status of 200.
enum Placeholders {
    /// MD5 of files, in lower-case hexadecimal.
    private static let files: Set<String> = [
        // "image not available" of Google Books, as calibre's plug-in for Google knows it (DUMMY_IMAGE_MD5).
        "0de4383ebad0adad5eeb8975cd796657", "a64fa89d7ebc97075c1d363fc5fea71f",
        // The empty GIF of Open Library, from covers.openlibrary.org without `default=false`.
        "0d23d0b62908b75e89014ac3f864484e",
    ]

    /// Block hashes, in lower-case hexadecimal: the same picture in other sizes and encodings.
    private static let looks: [[UInt8]] = [
        // "image not available" of Google Books, as several readers' apps have noted it with the package image-hash.
        [
            0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xE0, 0x07, 0xE0, 0x07, 0xE0, 0x07, 0xFF, 0x9F,
            0xF8, 0x1F,
            0xF8, 0x3F, 0xFF, 0xFF, 0x80, 0x01, 0x80, 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            0xFF, 0xFF,
        ]
    ]

    /// Of 256 bits; two covers differ in about half of them.
    private static let differenceMax = 24

    static func contain(_ bytes: [UInt8], lookingLike blockHash: [UInt8]) -> Bool {
        if let digest = md5(bytes), files.contains(lowercaseHex(digest)) { return true }
        return looks.contains { look in
            look.count == blockHash.count
                && zip(look, blockHash).reduce(0) { $0 + ($1.0 ^ $1.1).nonzeroBitCount }
                    <= differenceMax
        }
    }
}
