import GraphQL
import Identity
import ImageProcessing
import ObjectStorage
import Postgres

/// The image that a URL refers to.
struct ImageAddress {
    let bucket: Bucket
    /// The reader whose image it is; nil for the image of an edition.
    let user: UUID?
    /// The book or the edition.
    let id: UUID
    /// 32 lower-case hexadecimal digits.
    let version: Version

    enum Version {
        /// A cell with the digits, which must outlive the address.
        case stored(UnsafeRawBufferPointer)
        case computed([UInt8])
    }

    static func cover(_ user: UUID, _ book: UUID, _ version: UnsafeRawBufferPointer) -> Self {
        ImageAddress(bucket: .bookCovers, user: user, id: book, version: .stored(version))
    }

    static func cover(ofEdition edition: UUID, _ version: UnsafeRawBufferPointer) -> Self {
        ImageAddress(bucket: .editionCovers, user: nil, id: edition, version: .stored(version))
    }

    static func titleCard(of edition: UUID, _ version: [UInt8]) -> Self {
        ImageAddress(bucket: .titleCards, user: nil, id: edition, version: .computed(version))
    }

    static func titleCard(of book: UUID, _ user: UUID, _ version: [UInt8]) -> Self {
        ImageAddress(bucket: .titleCards, user: user, id: book, version: .computed(version))
    }
}

/// Builds the public URLs of images. A URL with a version always refers to the same image.
struct ImageURLBuilder: Sendable {
    /// The server's public URL, without a trailing slash.
    let publicURL: String
    /// The beginning of the URLs in each bucket.
    private let starts: [Bucket: [UInt8]]

    init(publicURL: String) {
        self.publicURL = publicURL
        starts = Dictionary(
            uniqueKeysWithValues: Bucket.allCases.map {
                ($0, Array("\(publicURL)/\($0.rawValue)/".utf8))
            })
    }

    /// Returns the URL of a reader's cover in its full size.
    func cover(_ user: UUID, _ book: UUID, _ version: String) -> String {
        var bytes = ResponseWriter(capacity: 256)
        append(
            ImageAddress(
                bucket: .bookCovers, user: user, id: book, version: .computed(Array(version.utf8))),
            .full, to: &bytes)
        return bytes.withBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// Writes a URL as a JSON string.
    func write(_ image: ImageAddress, _ size: ObjectVariant, to writer: inout ResponseWriter) {
        // A URL has no characters that JSON escapes.
        writer.append(UInt8(ascii: "\""))
        append(image, size, to: &writer)
        writer.append(UInt8(ascii: "\""))
    }

    private func append(
        _ image: ImageAddress, _ size: ObjectVariant, to writer: inout ResponseWriter
    ) {
        writer.append(starts[image.bucket] ?? [])
        if let user = image.user {
            user.append(to: &writer)
            writer.append(UInt8(ascii: "/"))
        }
        image.id.append(to: &writer)
        writer.append(".jpg?")
        switch size {
        case .thumbnail: writer.append("size=thumbnail&")
        // Title cards are drawn in the full size, which is also their largest.
        case .large where image.bucket != .titleCards: writer.append("size=large&")
        case .full, .large: break
        }
        writer.append("v=")
        switch image.version {
        case .stored(let digits): writer.append(digits.assumingMemoryBound(to: UInt8.self))
        case .computed(let digits): writer.append(digits)
        }
    }
}

extension UUID {
    fileprivate func append(to writer: inout ResponseWriter) {
        writer.reserve(36) { out in
            writeText(to: UnsafeMutableRawBufferPointer(start: out, count: 36))
            return 36
        }
    }
}

extension TitleCard {
    /// The version of the drawing code. Incrementing it invalidates all stored title cards.
    private static let style = UInt8(ascii: "1")

    /// A hash of the card's text and style, so the URL is known before the card is drawn.
    var version: String {
        String(decoding: Self.version(utf8: title.utf8, author?.utf8, genre?.utf8), as: UTF8.self)
    }

    /// Returns the version, 32 hexadecimal digits, of a card with the texts of these cells.
    static func version(
        _ title: UnsafeRawBufferPointer, _ author: UnsafeRawBufferPointer?,
        _ genre: UnsafeRawBufferPointer?
    ) -> [UInt8] {
        version(utf8: title, author, genre)
    }

    private static func version<Text: Collection<UInt8>>(
        utf8 title: Text, _ author: Text?, _ genre: Text?
    ) -> [UInt8] {
        var text = [style, 0]
        text.reserveCapacity(128)
        text += title
        text.append(0)
        if let author { text += author }
        text.append(0)
        if let genre { text += genre }
        return lowercaseHexDigits(sha256(text).prefix(16))
    }
}
