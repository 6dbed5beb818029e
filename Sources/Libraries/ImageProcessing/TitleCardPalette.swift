/// The colors of a title card, which are determined by the name of its genre.
package struct TitleCardPalette: Sendable {
    /// The background as 0xRRGGBB.
    package let ground: UInt32
    /// The color of the title and the author.
    package let ink: UInt32
    /// The color of the genre and the pattern.
    package let accent: UInt32
    /// The background as `#RRGGBB`, the dominant color of the card.
    package let dominantColor: String
    /// The BlurHash of the background.
    package let blurHash: String

    private init(_ ground: UInt32, _ ink: UInt32, _ accent: UInt32) {
        self.ground = ground
        self.ink = ink
        self.accent = accent
        let digits = String(ground, radix: 16, uppercase: true)
        dominantColor = "#" + String(repeating: "0", count: 6 - digits.count) + digits
        blurHash = BlurHash.plain(Int(ground))
    }

    /// Returns the palette of a genre. It does not change when genres are added.
    package static func of(_ genre: String?) -> TitleCardPalette {
        // FNV-1a of the name.
        let hash = (genre?.lowercased() ?? "").utf8.reduce(0x811C_9DC5 as UInt32) {
            ($0 ^ UInt32($1)) &* 0x0100_0193
        }
        return all[Int(hash % UInt32(all.count))]
    }

    private static let all = [
        TitleCardPalette(0xF3E9D8, 0x2B2A33, 0xC8553D),
        TitleCardPalette(0xE8ECE6, 0x1F3A34, 0x3F8F7A),
        TitleCardPalette(0xF6E3C5, 0x40233B, 0xA63D57),
        TitleCardPalette(0xDDE6EF, 0x1D2F4F, 0x4C7BB0),
        TitleCardPalette(0xEFC76A, 0x2D2A32, 0xB5482F),
        TitleCardPalette(0x1F2A44, 0xF4EFE6, 0xE0A458),
        TitleCardPalette(0x5B1A2E, 0xF8EDE3, 0xE5B25D),
        TitleCardPalette(0x16423C, 0xF1F0E8, 0xC9D787),
        TitleCardPalette(0x3D2645, 0xF3E9F5, 0xDD8EA4),
        TitleCardPalette(0x7A3E1D, 0xFBF3E7, 0xF2C57C),
        TitleCardPalette(0x0F4C5C, 0xEEF6F7, 0xF4A259),
        TitleCardPalette(0x2F3E46, 0xEDF2EF, 0x84A98C),
        TitleCardPalette(0x6A3937, 0xF9F1EC, 0xC9ADA7),
        TitleCardPalette(0x22333B, 0xF2F4F3, 0xC6AC8F),
        TitleCardPalette(0x432818, 0xFFE6A7, 0xBB9457),
    ]
}

/// The parts of the BlurHash format that the imager and the server share.
///
/// Spec: https://github.com/woltapp/blurhash/blob/master/Algorithm.md
package enum BlurHash {
    /// Returns the hash of an image of one color, which has a single component.
    ///
    /// - Parameter color: The color as 0xRRGGBB.
    package static func plain(_ color: Int) -> String {
        // One by one components, and no maximum because there are no others.
        base83(0, digits: 1) + base83(0, digits: 1) + base83(color, digits: 4)
    }

    package static func base83(_ value: Int, digits: Int) -> String {
        let alphabet = Array(
            "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~")
        var value = value
        var text = ""
        for _ in 0..<digits {
            text = String(alphabet[value % 83]) + text
            value /= 83
        }
        return text
    }
}
