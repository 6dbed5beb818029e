import ImageProcessing

/// Whether an image can be a book's cover, and how good it is.
enum CoverJudgement: Equatable {
    /// The quality is the width in hundreds of pixels, up to the width of the full size. It is halved if the image does
    /// not have the shape of a book. The unit is coarse so that a few pixels do not decide between two images. Between
    /// images of equal quality, the search takes the one from the more likely source.
    case usable(quality: Int)
    case refused(Refusal)

    enum Refusal: Equatable {
        case tooSmall
        /// The image is a spine, a double page, or a banner, for example.
        case wronglyShaped
        /// Nearly all pixels have the same color.
        case blank
        /// A source's "no image available".
        case placeholder
    }

    /// The quality of an image that fills the full size. The search stops at this quality.
    static let goodEnough = ImageLimits.full.width / 100
    /// Below this quality, the cover of another edition may be better.
    static let poor = 3

    /// The minimum width and height in pixels.
    private static let sideMin = 100
    private static let bytesMin = 2000
    /// The accepted ratios of width to height: from tall to slightly wider than square, the shape of audiobook covers.
    private static let shapes = 0.4...1.1
    private static let bookShapes = 0.5...0.85

    /// - Parameter bytes: The original file.
    init(_ images: CoverImages, bytes: [UInt8]) {
        let (width, height) = (images.sourceWidth, images.sourceHeight)
        let shape = Double(width) / Double(max(1, height))
        if Placeholders.match(bytes, blockHash: images.blockHash) {
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
            let effectiveWidth = Self.bookShapes.contains(shape) ? width : width / 2
            self = .usable(quality: effectiveWidth / 100)
        }
    }
}
