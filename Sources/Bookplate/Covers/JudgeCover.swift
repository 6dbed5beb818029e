import ImageProcessing

/// Whether a picture may be a book's cover, and how good a one.
enum CoverJudgement: Equatable {
    /// The larger the better: hundreds of pixels of its width, as many as the full size has; half of them where it is
    /// shaped unlike a book. Between two that are nearly alike the likelier one is to win, and not a few pixels.
    case usable(quality: Int)
    case refused(Refusal)

    enum Refusal: Equatable {
        case tooSmall
        /// A spine, a spread, a banner.
        case wronglyShaped
        /// An empty page.
        case blank
        /// A service's "no image".
        case placeholder
    }

    /// What fills the full size; nothing better is looked for.
    static let goodEnough = ImageLimits.full.width / 100
    /// Below this another edition's cover may be better.
    static let poor = 3

    private static let sideMin = 100
    private static let bytesMin = 2000
    /// Width by height: from tall to a little more than square, as audio books are.
    private static let shapes = 0.4...1.1
    private static let bookShapes = 0.5...0.85

    /// - Parameter bytes: the file as it came.
    init(_ images: CoverImages, bytes: [UInt8]) {
        let (width, height) = (images.sourceWidth, images.sourceHeight)
        let shape = Double(width) / Double(max(1, height))
        if Placeholders.contain(bytes, lookingLike: images.blockHash) {
            self = .refused(.placeholder)
        } else if min(width, height) < Self.sideMin || bytes.count < Self.bytesMin {
            self = .refused(.tooSmall)
        } else if !Self.shapes.contains(shape) {
            self = .refused(.wronglyShaped)
        } else if images.colorStatistics.luminanceDeviation < 3
            || images.colorStatistics.mostCommonColorShare > 0.95
        {
            self = .refused(.blank)
        } else {
            let width = min(width, ImageLimits.full.width)
            let worth = Self.bookShapes.contains(shape) ? width : width / 2
            self = .usable(quality: worth / 100)
        }
    }
}
