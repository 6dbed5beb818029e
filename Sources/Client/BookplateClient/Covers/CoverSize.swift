import Foundation

/// The sizes in which the server has each image.
public enum CoverSize: String, CaseIterable, Sendable {
    /// At most 150 by 225 pixels.
    case thumbnail
    /// At most 600 by 900 pixels.
    case full
    /// At most 1000 by 1600 pixels.
    case large
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
        // `width` and `height` of the image are those of the size `full`.
        let (full, height) = (Double(self.width), Double(self.height))
        if pixels <= min(150, 225 * full / max(height, 1), full) { return .thumbnail }
        // Images are not enlarged, so an image that does not fill its size has no larger version.
        return pixels <= full || full < 600 && height < 900 ? .full : .large
    }

    /// The pixels of the placeholder, as `BlurHash.pixels` returns them. Nil if the server has sent no valid hash.
    public func placeholder(width: Int = 32, height: Int = 48) -> [UInt8]? {
        BlurHash(blurHash)?.pixels(width: width, height: height)
    }
}
