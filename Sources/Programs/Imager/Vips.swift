import CVips

/// A libvips image. It is evaluated lazily: operations build a pipeline that runs when pixels are read.
final class Picture {
    let pointer: UnsafeMutablePointer<VipsImage>

    /// - Throws: libvips's error message, if `make` does not return 0.
    init(
        _ make: (UnsafeMutablePointer<UnsafeMutablePointer<VipsImage>?>) -> Int32
    ) throws(VipsError) {
        var pointer: UnsafeMutablePointer<VipsImage>?
        guard make(&pointer) == 0, let pointer else { throw VipsError() }
        self.pointer = pointer
    }

    deinit { bookplate_vips_release(pointer) }

    var width: Int { Int(vips_image_get_width(pointer)) }
    /// The height of one page.
    var height: Int { Int(vips_image_get_page_height(pointer)) }
    var hasAlpha: Bool { vips_image_hasalpha(pointer) != 0 }
    /// The EXIF orientation. Pictures with 5 and above are rotated by 90 degrees.
    var orientation: Int { Int(vips_image_get_orientation(pointer)) }

    /// Computes the pixels once, so that later operations do not repeat the work.
    func inMemory() throws(VipsError) -> Picture {
        try Picture { out in
            out.pointee = vips_image_copy_memory(pointer)
            return out.pointee == nil ? -1 : 0
        }
    }

    /// Converts the image to sRGB with three bytes per pixel, on a white background.
    func inSRGB() throws(VipsError) -> Picture {
        let colored = try Picture { bookplate_vips_srgb(pointer, $0) }
        guard colored.hasAlpha else { return colored }
        return try Picture { bookplate_vips_flatten_on_white(colored.pointer, $0) }
    }

    func shrunk(to box: (width: Int, height: Int)) throws(VipsError) -> Picture {
        try Picture { bookplate_vips_shrink(pointer, Int32(box.width), Int32(box.height), $0) }
    }

    func jpeg(quality: Int) throws(VipsError) -> [UInt8] {
        var bytes: UnsafeMutableRawPointer?
        var count = 0
        guard bookplate_vips_write_jpeg(pointer, Int32(quality), &bytes, &count) == 0, let bytes
        else { throw VipsError() }
        defer { g_free(bytes) }
        return Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// Returns the bytes of all bands, row by row.
    func pixels() throws(VipsError) -> [UInt8] {
        var count = 0
        guard let bytes = vips_image_write_to_memory(pointer, &count) else { throw VipsError() }
        defer { g_free(bytes) }
        return Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }
}

/// The last error message of libvips. It may quote the input, so do not show it to clients.
struct VipsError: Error {
    let text: String

    init() {
        text = String(cString: vips_error_buffer())
        vips_error_clear()
    }
}
