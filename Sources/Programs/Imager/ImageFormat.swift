/// An accepted image format, detected from the first bytes.
enum ImageFormat: Sendable, Equatable {
    case jpeg, png, webp, gif, heif

    init?(of bytes: [UInt8]) {
        func has(_ text: StaticString, at offset: Int) -> Bool {
            text.withUTF8Buffer { bytes.dropFirst(offset).starts(with: $0) }
        }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if has("RIFF", at: 0), has("WEBP", at: 8) {
            self = .webp
        } else if has("GIF87a", at: 0) || has("GIF89a", at: 0) {
            self = .gif
        } else if has("ftyp", at: 4), Self.isHEIF(bytes) {
            self = .heif
        } else {
            return nil
        }
    }

    /// Checks whether the major brand or a compatible brand is that of a still image with HEVC or AV1.
    private static func isHEIF(_ bytes: [UInt8]) -> Bool {
        let brands = ["heic", "heix", "heim", "heis", "mif1", "miaf", "avif", "avis", "hevc"]
        let boxBytes = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        let box = bytes.prefix(min(boxBytes, 256))
        guard box.count >= 12 else { return false }
        return stride(from: 8, to: box.count - 3, by: 4).contains { start in
            start != 12 && brands.contains(String(decoding: box[start..<start + 4], as: UTF8.self))
        }
    }

    /// The loader's options for errors. libjpeg reports damaged data as warnings. The warnings of other
    /// libraries concern metadata, which is not kept.
    var options: String {
        self == .jpeg ? "[fail_on=warning]" : "[fail_on=error]"
    }
}
