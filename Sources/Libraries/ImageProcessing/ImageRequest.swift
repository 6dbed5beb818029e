import Basics

/// A request to `bookplate-imager`, one per frame on its standard input.
///
/// A frame is the length of its payload as a 32-bit big-endian number, followed by the payload.
package enum ImageRequest: Sendable {
    /// Create the variants of an image in any accepted format, of at most `ImageLimits.inputBytesMax`.
    case cover(StoredBytes)
    /// Draw a cover for a book without one.
    case titleCard(TitleCard)
    /// Find the scripts that title cards cannot show.
    case missingScripts

    /// Returns the payload without the image of `.cover`, which follows it. Its first byte is the kind of request.
    func encoded() -> [UInt8] {
        switch self {
        case .cover: return [0]
        case .titleCard(let card):
            var writer = FrameWriter([1])
            writer.write(text: card.title)
            writer.write(text: card.author ?? "")
            writer.write(text: card.genre ?? "")
            return writer.bytes
        case .missingScripts: return [2]
        }
    }

    /// Decodes a payload; nil if it is malformed.
    package init?(payload: [UInt8]) {
        switch payload.first {
        case 0: self = .cover(.memory(Array(payload.dropFirst())))
        case 1:
            var reader = FrameReader(payload[1...])
            guard let title = reader.text(), let author = reader.text(), let genre = reader.text()
            else { return nil }
            self = .titleCard(
                TitleCard(
                    title: title, author: author.isEmpty ? nil : author,
                    genre: genre.isEmpty ? nil : genre))
        case 2: self = .missingScripts
        default: return nil
        }
    }
}

/// The texts on a generated cover.
package struct TitleCard: Sendable, Equatable {
    package var title: String
    package var author: String?
    package var genre: String?

    private static let authorCharactersMax = 200

    package init(title: String, author: String?, genre: String?) {
        self.title = title
        // The names of many authors do not fit on the image, and drawing them takes long.
        self.author = author.map { String($0.unicodeScalars.prefix(Self.authorCharactersMax)) }
        self.genre = genre
    }
}

/// The limits of input images, the sizes of the variants, and the resource limits of the imager.
package enum ImageLimits {
    package static let inputBytesMax = 25 << 20
    package static let pixelsMax = 50_000_000
    /// The minimum length of the shorter side, in pixels.
    package static let sideMin = 16
    /// The boxes that the variants fit into, in pixels. Images are never enlarged.
    package static let thumbnail = (width: 150, height: 225)
    package static let full = (width: 600, height: 900)
    package static let large = (width: 1000, height: 1600)
    package static let jpegQuality = 80
    /// The CPU time limit per image, after which the kernel terminates the process.
    package static let cpuSecondsMax = 10
    /// The time limit from the request to the response.
    package static let wallTimeMax = Duration.seconds(15)
    /// The limit of the process's data segment (RLIMIT_DATA).
    package static let memoryBytesMax = 768 << 20
}
