/// A processed cover: three JPEG files, and facts about the picture.
package struct CoverImages: Sendable, Equatable {
    package struct Variant: Sendable, Equatable {
        package var width: Int
        package var height: Int
        package var bytes: [UInt8]

        package init(width: Int, height: Int, bytes: [UInt8]) {
            self.width = width
            self.height = height
            self.bytes = bytes
        }
    }

    package var thumbnail: Variant
    package var full: Variant
    package var large: Variant
    /// The dominant colour as `#RRGGBB`.
    package var dominantColor: String
    /// A placeholder in the BlurHash format; see https://github.com/woltapp/blurhash.
    package var blurHash: String
    /// The width of the source image in pixels, after its EXIF orientation was applied.
    package var sourceWidth: Int
    package var sourceHeight: Int
    /// Statistics of the thumbnail that distinguish a picture from a blank page.
    package var colorStatistics: ColorStatistics
    /// A perceptual hash of 32 bytes. Similar pictures have hashes that differ in few bits.
    package var blockHash: [UInt8]

    package struct ColorStatistics: Sendable, Equatable {
        /// The standard deviation of the luminance, 0 to 127.
        /// Standard deviation of the luminance, 0 to 127.
        package var luminanceDeviation: Double
        /// The fraction of the pixels that have the most common colour, 0 to 1.
        package var mostCommonColorShare: Double
        /// The number of different colours, at four bits per channel.
        package var colorCount: Int

        package init(luminanceDeviation: Double, mostCommonColorShare: Double, colorCount: Int) {
            self.luminanceDeviation = luminanceDeviation
            self.mostCommonColorShare = mostCommonColorShare
            self.colorCount = colorCount
        }
    }

    package init(
        thumbnail: Variant, full: Variant, large: Variant, dominantColor: String, blurHash: String,
        sourceWidth: Int, sourceHeight: Int, colorStatistics: ColorStatistics, blockHash: [UInt8]
    ) {
        self.thumbnail = thumbnail
        self.full = full
        self.large = large
        self.dominantColor = dominantColor
        self.blurHash = blurHash
        self.sourceWidth = sourceWidth
        self.sourceHeight = sourceHeight
        self.colorStatistics = colorStatistics
        self.blockHash = blockHash
    }
}

/// A response of `bookplate-imager`, one frame per request.
package enum ImageResponse: Sendable, Equatable {
    /// Sent once at the start, after the imager has verified that it rejects all other formats.
    case ready
    case images(CoverImages)
    /// The image cannot be processed; carries a message for the user who sent it.
    case unsupported(String)
    /// The scripts for which no font is installed.
    case missingScripts([TitleCardScript])

    package func encoded() -> [UInt8] {
        switch self {
        case .ready: return [0]
        case .unsupported(let message):
            var writer = FrameWriter([2])
            writer.write(text: message)
            return writer.bytes
        case .missingScripts(let scripts):
            var writer = FrameWriter([3])
            writer.write(text: scripts.map(\.rawValue).joined(separator: ","))
            return writer.bytes
        case .images(let images):
            var writer = FrameWriter([1])
            for variant in [images.thumbnail, images.full, images.large] {
                writer.write(variant.width)
                writer.write(variant.height)
                writer.write(variant.bytes)
            }
            writer.write(text: images.dominantColor)
            writer.write(text: images.blurHash)
            writer.write(images.sourceWidth)
            writer.write(images.sourceHeight)
            writer.write(Int(images.colorStatistics.luminanceDeviation * 1000))
            writer.write(Int(images.colorStatistics.mostCommonColorShare * 1_000_000))
            writer.write(images.colorStatistics.colorCount)
            writer.write(images.blockHash)
            return writer.bytes
        }
    }

    /// Decodes a payload; nil if it is malformed.
    package init?(payload: [UInt8]) {
        var reader = FrameReader(payload.dropFirst())
        switch payload.first {
        case 0: self = .ready
        case 2:
            guard let message = reader.text() else { return nil }
            self = .unsupported(message)
        case 3:
            guard let names = reader.text() else { return nil }
            self = .missingScripts(
                names.split(separator: ",").compactMap { TitleCardScript(rawValue: String($0)) })
        case 1:
            guard let thumbnail = reader.variant(), let full = reader.variant(),
                let large = reader.variant(), let color = reader.text(), let hash = reader.text(),
                let width = reader.int(), let height = reader.int(), let deviation = reader.int(),
                let share = reader.int(), let colors = reader.int(), let block = reader.bytes()
            else { return nil }
            self = .images(
                CoverImages(
                    thumbnail: thumbnail, full: full, large: large, dominantColor: color,
                    blurHash: hash, sourceWidth: width, sourceHeight: height,
                    colorStatistics: .init(
                        luminanceDeviation: Double(deviation) / 1000,
                        mostCommonColorShare: Double(share) / 1_000_000, colorCount: colors),
                    blockHash: block))
        default: return nil
        }
    }
}

extension FrameReader {
    fileprivate mutating func variant() -> CoverImages.Variant? {
        guard let width = int(), let height = int(), let bytes = bytes() else { return nil }
        return CoverImages.Variant(width: width, height: height, bytes: bytes)
    }
}
