import GraphQL
import ObjectStorage
import Postgres

/// The image that a URL refers to.
struct ImageAddress {
    /// The id of an edition or a book.
    enum ID {
        case id(UUID)
        /// A cell with the id as text, which must outlive the address.
        case text(UnsafeRawBufferPointer)
    }

    let bucket: Bucket
    /// The reader whose image it is; nil for the image of an edition.
    let user: UUID?
    /// The book or the edition.
    let id: ID
    /// A cell with 32 lower-case hexadecimal digits, which must outlive the address.
    let version: UnsafeRawBufferPointer

    static func cover(_ user: UUID, _ book: UUID, _ version: UnsafeRawBufferPointer) -> Self {
        ImageAddress(bucket: .bookCovers, user: user, id: .id(book), version: version)
    }

    static func cover(ofEdition edition: ID, _ version: UnsafeRawBufferPointer) -> Self {
        ImageAddress(bucket: .editionCovers, user: nil, id: edition, version: version)
    }

    static func titleCard(ofEdition edition: ID, _ version: UnsafeRawBufferPointer) -> Self {
        ImageAddress(bucket: .titleCards, user: nil, id: edition, version: version)
    }

    static func titleCard(
        of book: UUID, _ user: UUID, _ version: UnsafeRawBufferPointer
    ) -> Self {
        ImageAddress(bucket: .titleCards, user: user, id: .id(book), version: version)
    }
}

/// Builds the public URLs of images. A URL with a version always refers to the same image.
struct ImageURLBuilder: Sendable {
    /// The server's public URL, without a trailing slash.
    let publicURL: String
    /// The public URL of the objects in the store; nil if clients get them from the server.
    let bucketURL: String?
    /// The beginning of the URLs in a bucket, for each bucket.
    private struct Starts {
        let bookCovers: [UInt8]
        let titleCards: [UInt8]
        let editionCovers: [UInt8]

        init(_ url: String) {
            func start(_ bucket: Bucket) -> [UInt8] { Array("\(url)/\(bucket.rawValue)/".utf8) }
            bookCovers = start(.bookCovers)
            titleCards = start(.titleCards)
            editionCovers = start(.editionCovers)
        }

        subscript(bucket: Bucket) -> [UInt8] {
            switch bucket {
            case .bookCovers: bookCovers
            case .titleCards: titleCards
            case .editionCovers: editionCovers
            }
        }
    }

    private let starts: Starts
    /// The beginning of the URLs of covers that clients get from the store itself; nil if they get them from the server.
    /// Title cards always come from the server, which draws them.
    private let objects: Starts?

    /// - Parameter bucketURL: The public URL of the objects in the store, without a trailing slash.
    init(publicURL: String, bucketURL: String? = nil) {
        self.publicURL = publicURL
        self.bucketURL = bucketURL
        objects = bucketURL.map(Starts.init)
        starts = Starts(publicURL)
    }

    /// Returns the URL of a reader's cover in its full size.
    func cover(_ user: UUID, _ book: UUID, _ version: String) -> String {
        url(version) { .cover(user, book, $0) }
    }

    /// Returns the URL of an edition's cover in its full size.
    func cover(ofEdition edition: String, _ version: String) -> String {
        var edition = edition
        return edition.withUTF8 { id in
            url(version) { .cover(ofEdition: .text(UnsafeRawBufferPointer(id)), $0) }
        }
    }

    private func url(
        _ version: String, _ address: (UnsafeRawBufferPointer) -> ImageAddress
    ) -> String {
        var version = version
        return version.withUTF8 { digits in
            var bytes = ResponseWriter(capacity: 256)
            append(address(UnsafeRawBufferPointer(digits)), .full, to: &bytes)
            return bytes.withBytes { String(decoding: $0, as: UTF8.self) }
        }
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
        if image.bucket != .titleCards, let objects {
            return append(image, size, inStoreAt: objects[image.bucket], to: &writer)
        }
        writer.append(starts[image.bucket])
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
        writer.append(image.version.assumingMemoryBound(to: UInt8.self))
    }
}

extension ImageURLBuilder {
    /// Appends the URL of an object: `{start}{folder}/{name}.{version}[.{variant}].jpg`.
    private func append(
        _ image: ImageAddress, _ size: ObjectVariant, inStoreAt start: [UInt8],
        to writer: inout ResponseWriter
    ) {
        writer.append(start)
        if let user = image.user {
            user.append(to: &writer)
        } else {
            image.id.appendFolder(to: &writer)
        }
        writer.append(UInt8(ascii: "/"))
        image.id.append(to: &writer)
        writer.append(UInt8(ascii: "."))
        writer.append(image.version.assumingMemoryBound(to: UInt8.self))
        switch size {
        case .thumbnail: writer.append(".thumbnail")
        case .large: writer.append(".large")
        case .full: break
        }
        writer.append(".jpg")
    }
}

extension ImageAddress.ID {
    fileprivate func append(to writer: inout ResponseWriter) {
        switch self {
        case .id(let id): id.append(to: &writer)
        case .text(let text): writer.append(text.assumingMemoryBound(to: UInt8.self))
        }
    }

    /// Appends the folder of an edition: the first two digits of its id.
    fileprivate func appendFolder(to writer: inout ResponseWriter) {
        switch self {
        case .id(let id): writer.append(Array("\(id)".utf8.prefix(2)))
        case .text(let text):
            writer.append(
                UnsafeRawBufferPointer(rebasing: text.prefix(2)).assumingMemoryBound(to: UInt8.self)
            )
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
