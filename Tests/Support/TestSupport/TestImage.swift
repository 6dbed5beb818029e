import TestBasics

/// Generates PNG images.
package enum TestImage {
    /// Returns an image of a checkered pattern whose color depends on the seed.
    package static func png(width: Int = 60, height: Int = 90, seed: UInt64 = 1) -> [UInt8] {
        var random = SeededGenerator(seed)
        let color = (0..<3).map { _ in UInt8.random(in: 40...200, using: &random) }
        return png(width: width, height: height) { x, y in
            let shade = UInt8(truncatingIfNeeded: (x / 6 + y / 6) % 2 * 50)
            return color.map { $0 &+ shade }
        }
    }

    /// - Parameter color: returns the red, green, and blue components of a pixel.
    package static func png(
        width: Int, height: Int, color: (_ x: Int, _ y: Int) -> [UInt8]
    ) -> [UInt8] {
        var rows: [UInt8] = []
        for y in 0..<height {
            rows.append(0)  // no filter
            for x in 0..<width {
                rows += color(x, y)
            }
        }
        var png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        png += chunk(
            "IHDR", bigEndian(UInt32(width)) + bigEndian(UInt32(height)) + [8, 2, 0, 0, 0])
        png += chunk("IDAT", stored(rows))
        return png + chunk("IEND", [])
    }

    /// Encodes bytes in the zlib format with stored (uncompressed) blocks (RFC 1950 and RFC 1951, section 3.2.4).
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = [0x78, 0x01]
        var rest = bytes[...]
        repeat {
            let block = rest.prefix(65_535)
            rest = rest.dropFirst(block.count)
            let count = UInt16(block.count)
            result += [rest.isEmpty ? 1 : 0]
            for word in [count, ~count] { result += [UInt8(word & 255), UInt8(word >> 8)] }
            result += block
        } while !rest.isEmpty
        var (low, high): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return result + bigEndian(high << 16 | low)
    }

    private static func chunk(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
        let named = Array(name.utf8) + bytes
        var crc: UInt32 = .max
        for byte in named {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc >> 1 ^ (crc & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        return bigEndian(UInt32(bytes.count)) + named + bigEndian(~crc)
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
