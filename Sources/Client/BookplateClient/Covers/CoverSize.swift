import Foundation

/// The sizes in which the server has each image.
public enum CoverSize: String, CaseIterable, Sendable {
    /// At most 150 by 225 pixels.
    case thumbnail
    /// At most 600 by 900 pixels.
    case full
    /// At most 1000 by 1600 pixels.
    case large

    fileprivate var pixels: (width: Double, height: Double) {
        switch self {
        case .thumbnail: (150, 225)
        case .full: (600, 900)
        case .large: (1000, 1600)
        }
    }
}

extension CoverImage {
    /// The address of the image in a size.
    public func url(_ size: CoverSize) -> URL {
        switch size {
        case .thumbnail: thumbnailUrl
        case .full: url
        case .large: largeUrl
        }
    }

    /// The smallest size that is sharp in a view.
    ///
    /// - Parameters:
    ///   - width: the width of the image in the view, in points.
    ///   - scale: the number of pixels per point, such as 3.
    public func size(width: Double, scale: Double) -> CoverSize {
        let pixels = width * scale
        return [.thumbnail, .full].first { self.pixelWidth($0) >= pixels || isLargest($0) }
            ?? .large
    }

    /// Images are not enlarged, so an image that does not fill its size has no larger version.
    private func isLargest(_ size: CoverSize) -> Bool {
        size == .full && Double(width) < size.pixels.width
            && Double(height) < size.pixels.height
    }

    private func pixelWidth(_ size: CoverSize) -> Double {
        guard width > 0, height > 0 else { return size.pixels.width }
        let ratio = Double(width) / Double(height)
        let fitting = min(size.pixels.width, size.pixels.height * ratio)
        return size == .large ? fitting : min(fitting, Double(width))
    }

    /// The pixels of the placeholder, as `BlurHash.pixels` returns them. Nil if the server has sent no valid hash.
    public func placeholder(width: Int = 32, height: Int = 48) -> [UInt8]? {
        BlurHash(blurHash)?.pixels(width: width, height: height)
    }
}
