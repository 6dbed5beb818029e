/// What `bookplate-imager` is asked, one request a frame on its standard input.
///
/// A frame is its payload's length in four bytes, big endian, and the payload.
package enum ImageRequest: Sendable {
    /// An image of any accepted format, of `ImageLimits.inputBytesMax` at most.
    case cover([UInt8])
    case titleCard(TitleCard)

    /// The payload; the first byte says which.
    package func encoded() -> [UInt8] {
        switch self {
        case .cover(let bytes):
            var payload: [UInt8] = [0]
            payload.reserveCapacity(bytes.count + 1)
            payload += bytes
            return payload
        case .titleCard(let card):
            var writer = FrameWriter([1])
            writer.write(text: card.title)
            writer.write(text: card.author ?? "")
            writer.write(text: card.genre ?? "")
            return writer.bytes
        }
    }

    /// nil for what nobody sends.
    package init?(payload: [UInt8]) {
        switch payload.first {
        case 0: self = .cover(Array(payload.dropFirst()))
        case 1:
            var reader = FrameReader(payload[1...])
            guard let title = reader.text(), let author = reader.text(), let genre = reader.text()
            else { return nil }
            self = .titleCard(
                TitleCard(
                    title: title, author: author.isEmpty ? nil : author,
                    genre: genre.isEmpty ? nil : genre))
        default: return nil
        }
    }
}

/// What stands on a picture for a book that has none.
package struct TitleCard: Sendable, Equatable {
    package var title: String
    package var author: String?
    package var genre: String?

    package init(title: String, author: String?, genre: String?) {
        self.title = title
        self.author = author
        self.genre = genre
    }
}

/// What images may be, and what is made of them.
package enum ImageLimits {
    package static let inputBytesMax = 25 << 20
    package static let pixelsMax = 50_000_000
    /// Of the shorter side.
    package static let sideMin = 16
    /// Boxes that the variants fit in; an image is never enlarged.
    package static let thumbnail = (width: 150, height: 225)
    package static let full = (width: 600, height: 900)
    package static let large = (width: 1000, height: 1600)
    package static let jpegQuality = 80
    /// Of one image, before its process is stopped.
    package static let cpuSecondsMax = 10
    package static let wallTimeMax = Duration.seconds(15)
    package static let memoryBytesMax = 768 << 20
}
