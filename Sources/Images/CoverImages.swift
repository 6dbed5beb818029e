/// A cover as it is kept: three JPEG files, and what is known of the picture.
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
    /// `#RRGGBB`.
    package var dominantColor: String
    /// https://github.com/woltapp/blurhash
    package var blurHash: String
    /// Of the image that came, upright.
    package var sourceWidth: Int
    package var sourceHeight: Int
    /// What tells a picture from an empty page, in the thumbnail.
    package var evenness: Evenness
    /// 32 bytes that look-alikes have nearly in common.
    package var blockHash: [UInt8]

    package struct Evenness: Sendable, Equatable {
        /// Standard deviation of the luminance, 0 to 127.
        package var luminanceDeviation: Double
        /// The part of the pixels that have the most frequent colour, 0 to 1.
        package var commonestColorShare: Double
        /// Colours of four bits a channel that occur.
        package var colorCount: Int

        package init(luminanceDeviation: Double, commonestColorShare: Double, colorCount: Int) {
            self.luminanceDeviation = luminanceDeviation
            self.commonestColorShare = commonestColorShare
            self.colorCount = colorCount
        }
    }

    package init(
        thumbnail: Variant, full: Variant, large: Variant, dominantColor: String, blurHash: String,
        sourceWidth: Int, sourceHeight: Int, evenness: Evenness, blockHash: [UInt8]
    ) {
        self.thumbnail = thumbnail
        self.full = full
        self.large = large
        self.dominantColor = dominantColor
        self.blurHash = blurHash
        self.sourceWidth = sourceWidth
        self.sourceHeight = sourceHeight
        self.evenness = evenness
        self.blockHash = blockHash
    }
}

/// What `bookplate-imager` answers, one frame a request.
package enum ImageAnswer: Sendable, Equatable {
    /// The proof at the start: nothing but the accepted formats is read.
    case ready
    case images(CoverImages)
    /// A sentence for the person who sent it.
    case unsupported(String)

    package func encoded() -> [UInt8] {
        switch self {
        case .ready: return [0]
        case .unsupported(let sentence):
            var writer = FrameWriter([2])
            writer.write(text: sentence)
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
            writer.write(Int(images.evenness.luminanceDeviation * 1000))
            writer.write(Int(images.evenness.commonestColorShare * 1_000_000))
            writer.write(images.evenness.colorCount)
            writer.write(images.blockHash)
            return writer.bytes
        }
    }

    /// nil for what a healthy imager does not say.
    package init?(payload: [UInt8]) {
        var reader = FrameReader(payload.dropFirst())
        switch payload.first {
        case 0: self = .ready
        case 2:
            guard let sentence = reader.text() else { return nil }
            self = .unsupported(sentence)
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
                    evenness: .init(
                        luminanceDeviation: Double(deviation) / 1000,
                        commonestColorShare: Double(share) / 1_000_000, colorCount: colors),
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
