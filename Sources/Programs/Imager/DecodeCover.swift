import CVips
import ImageProcessing

/// The reason why an image is rejected, as a message for the user who sent it.
struct Rejection: Error {
    let message: String

    init(_ message: String) { self.message = message }
}

/// Creates the variants of a cover from an untrusted image.
///
/// 1. The format is detected from the first bytes, and the size is read from the header. Unknown formats and
///    sizes outside the limits are rejected before anything is decoded.
/// 2. The image is decoded into the large variant. JPEG and WebP are decoded at the smallest scale that is
///    sufficient for it.
/// 3. The full variant is made from the large one, and the thumbnail from the full one.
///
/// A JPEG of 12 megapixels takes 63 ms of CPU time if it is baseline and 131 to 155 ms if it is progressive.
/// In the latter case 103 to 121 ms are spent on the coefficients, which a smaller scale does not reduce.
func decodeCover(_ bytes: [UInt8]) throws(Rejection) -> CoverImages {
    guard let format = ImageFormat(of: bytes) else {
        throw Rejection(
            "The file is not an image in an accepted format. Send a JPEG, PNG, WebP, HEIC, AVIF or GIF."
        )
    }
    let header = try orReject { () throws(VipsError) in
        try Picture { out in
            bytes.withUnsafeBytes {
                bookplate_vips_open($0.baseAddress, $0.count, format.options, out)
            }
        }
    }
    let (width, height) = (header.width, header.height)
    guard min(width, height) >= ImageLimits.sideMin else {
        throw Rejection(
            "The image is too small: each side must have at least \(ImageLimits.sideMin) pixels.")
    }
    guard width * height <= ImageLimits.pixelsMax else {
        throw Rejection("The image has more than 50 megapixels. Send a smaller one.")
    }
    let isOnSide = header.orientation >= 5
    return try orReject { () throws(VipsError) in
        try variants(
            of: decode(bytes, format, header), width: isOnSide ? height : width,
            height: isOnSide ? width : height)
    }
}

private func orReject<Value>(_ work: () throws(VipsError) -> Value) throws(Rejection) -> Value {
    do throws(VipsError) {
        return try work()
    } catch {
        throw Rejection("The image is damaged or uses unsupported features. Send it as a JPEG.")
    }
}

private func decode(
    _ bytes: [UInt8], _ format: ImageFormat, _ header: Picture
) throws(VipsError) -> Picture {
    let (width, height) = (Int32(ImageLimits.large.width), Int32(ImageLimits.large.height))
    let divisor = header.divisor(for: ImageLimits.large)
    func thumbnail(_ options: String) throws(VipsError) -> Picture {
        let picture = try Picture { out in
            bytes.withUnsafeBytes {
                format == .jpeg
                    ? bookplate_vips_thumbnail_jpeg(
                        $0.baseAddress, $0.count, options, divisor, width, height, out)
                    : bookplate_vips_thumbnail(
                        $0.baseAddress, $0.count, options, header.pointer, width, height, out)
            }
        }
        // The pixels must be decoded here, while `bytes` is alive.
        return try picture.inSRGB().inMemory()
    }
    return try withExtendedLifetime(bytes) { () throws(VipsError) in
        do throws(VipsError) {
            return try thumbnail(format.options)
        } catch {
            // Some cameras write extra bytes after the end of the picture, which is complete nevertheless.
            guard format == .jpeg, error.text.contains("extraneous bytes before marker 0xd9") else {
                throw error
            }
            return try thumbnail("[fail_on=truncated]")
        }
    }
}

extension Picture {
    /// The factor by which the JPEG decoder reduces the size: 1, 2, 4, or 8.
    ///
    /// At least a factor of 1.5 is left to resizing, because the decoder's own reduction has low quality.
    /// libvips by itself would leave a factor of 2 and decode a photo of 12 megapixels at full size.
    fileprivate func divisor(for box: (width: Int, height: Int)) -> Int32 {
        let (width, height) = orientation >= 5 ? (height, width) : (width, height)
        let factor = max(
            Double(width) / Double(box.width), Double(height) / Double(box.height))
        return [8, 4, 2].first { factor / Double($0) >= 1.5 } ?? 1
    }
}

/// Creates all variants from the large picture in sRGB.
///
/// - Parameters:
///   - width: The width of the source image.
///   - height: The height of the source image.
func variants(
    of large: Picture, width: Int, height: Int
) throws(VipsError) -> CoverImages {
    let full = try large.shrunk(to: ImageLimits.full).inMemory()
    let thumbnail = try full.shrunk(to: ImageLimits.thumbnail).inMemory()
    func variant(_ picture: Picture) throws(VipsError) -> CoverImages.Variant {
        CoverImages.Variant(
            width: picture.width, height: picture.height,
            bytes: try picture.jpeg(quality: ImageLimits.jpegQuality))
    }
    let pixels = Pixels(
        width: thumbnail.width, height: thumbnail.height, rgb: try thumbnail.pixels())
    let fullVariant = try variant(full)
    return CoverImages(
        thumbnail: try variant(thumbnail), full: fullVariant,
        // Both variants of a small image are the same.
        large: large.width == full.width && large.height == full.height
            ? fullVariant : try variant(large),
        dominantColor: pixels.dominantColor, blurHash: pixels.blurHash(),
        sourceWidth: width, sourceHeight: height, colorStatistics: pixels.colorStatistics,
        blockHash: pixels.blockHash)
}
