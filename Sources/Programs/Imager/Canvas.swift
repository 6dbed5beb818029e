import CVips

/// An image in memory, onto which a title card is drawn.
struct Canvas {
    let width: Int
    let height: Int
    /// Red, green, and blue of each pixel, row by row from the top.
    private var bytes: [UInt8]

    /// - Parameter color: The background as 0xRRGGBB.
    init(width: Int, height: Int, color: UInt32) {
        self.width = width
        self.height = height
        bytes = [UInt8](repeating: 0, count: 3 * width * height)
        for pixel in 0..<width * height {
            bytes[3 * pixel] = UInt8(color >> 16 & 255)
            bytes[3 * pixel + 1] = UInt8(color >> 8 & 255)
            bytes[3 * pixel + 2] = UInt8(color & 255)
        }
    }

    /// Mixes a share of a color, 0xRRGGBB, into a pixel.
    mutating func blend(_ color: UInt32, _ share: Double, _ x: Int, _ y: Int) {
        let start = 3 * (y * width + x)
        // In 256ths, because this runs for each pixel.
        let share = Int(share * 256)
        for (band, shift) in [(0, 16), (1, 8), (2, 0)] as [(Int, UInt32)] {
            let old = Int(bytes[start + band])
            bytes[start + band] = UInt8(old + (Int(color >> shift & 255) - old) * share >> 8)
        }
    }

    /// Draws a picture of four bands, the last of which is the opacity.
    mutating func draw(_ picture: Picture, left: Int, top: Int) throws(VipsError) {
        let pixels = try picture.pixels()
        guard pixels.count == 4 * picture.width * picture.height else { throw VipsError() }
        for y in 0..<picture.height {
            for x in 0..<picture.width {
                let start = 4 * (y * picture.width + x)
                let opacity = pixels[start + 3]
                guard opacity > 0, (0..<width).contains(left + x), (0..<height).contains(top + y)
                else { continue }
                let color =
                    UInt32(pixels[start]) << 16 | UInt32(pixels[start + 1]) << 8
                    | UInt32(pixels[start + 2])
                blend(color, Double(opacity) / 255, left + x, top + y)
            }
        }
    }

    func picture() throws(VipsError) -> Picture {
        try Picture { out in
            bytes.withUnsafeBytes {
                bookplate_vips_rgb($0.baseAddress, Int32(width), Int32(height), out)
            }
        }
    }
}
