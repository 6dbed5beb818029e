import CVips
import Images

/// Why an image is refused, as a sentence for who sent it.
struct Refusal: Error {
    let sentence: String

    init(_ sentence: String) { self.sentence = sentence }
}

/// Makes the variants of a cover from an image of a stranger's.
///
/// The format is told by its bytes and the size by its header before anything is decoded. JPEG and WebP are
/// decoded at the least size that is enough for the largest variant, the others are made from that one.
/// Of 12 megapixels in a baseline JPEG this takes 63 ms of CPU, progressive 131 to 155: 103 to 121 of them are its coefficients,
/// which no smaller size spares.
func decodeCover(_ bytes: [UInt8]) throws(Refusal) -> CoverImages {
    guard let format = ImageFormat(of: bytes) else {
        throw Refusal(
            "This is no image that can be used. Send a JPEG, PNG, WebP, HEIC, AVIF or GIF.")
    }
    let header = try orRefuse { () throws(VipsError) in
        try Picture { out in
            bytes.withUnsafeBytes {
                bookplate_vips_open($0.baseAddress, $0.count, format.options, out)
            }
        }
    }
    let (width, height) = (header.width, header.height)
    guard min(width, height) >= ImageLimits.sideMin else {
        throw Refusal("The image is smaller than \(ImageLimits.sideMin) pixels a side.")
    }
    guard width * height <= ImageLimits.pixelsMax else {
        throw Refusal("The image has more than 50 megapixels. Send a smaller one.")
    }
    let isOnSide = header.orientation >= 5
    return try orRefuse { () throws(VipsError) in
        try variants(
            of: decode(bytes, format, header), width: isOnSide ? height : width,
            height: isOnSide ? width : height)
    }
}

private func orRefuse<Value>(_ work: () throws(VipsError) -> Value) throws(Refusal) -> Value {
    do throws(VipsError) {
        return try work()
    } catch {
        throw Refusal("The image is damaged or of a kind that cannot be read. Send it as a JPEG.")
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
        // Decoding happens here, while the bytes are alive.
        return try picture.inSRGB().inMemory()
    }
    return try withExtendedLifetime(bytes) { () throws(VipsError) in
        do throws(VipsError) {
            return try thumbnail(format.options)
        } catch {
            // Cameras leave bytes behind the picture's end; it is whole all the same.
            guard format == .jpeg, error.text.contains("extraneous bytes before marker 0xd9") else {
                throw error
            }
            return try thumbnail("[fail_on=truncated]")
        }
    }
}

extension Picture {
    /// By what a JPEG's decoder may divide its size, so that resizing has at least a factor of 1.5 left to do: the
    /// decoder's own reduction is a coarse one. libvips would leave 2, and decode a photo of 12 megapixels whole.
    fileprivate func divisor(for box: (width: Int, height: Int)) -> Int32 {
        let (width, height) = orientation >= 5 ? (height, width) : (width, height)
        let factor = max(
            Double(width) / Double(box.width), Double(height) / Double(box.height))
        return [8, 4, 2].first { factor / Double($0) >= 1.5 } ?? 1
    }
}

/// The variants of a finished picture in sRGB.
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
        // Of a small image they are the same.
        large: large.width == full.width && large.height == full.height
            ? fullVariant : try variant(large),
        dominantColor: pixels.dominantColor, blurHash: pixels.blurHash(),
        sourceWidth: width, sourceHeight: height, evenness: pixels.evenness,
        blockHash: pixels.blockHash)
}
