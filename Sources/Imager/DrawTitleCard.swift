import CVips
import ImageProcessing

/// Draws a title and an author on the colours of a genre, as a cover for a book without one.
func drawTitleCard(_ card: TitleCard) throws(Rejection) -> CoverImages {
    do throws(VipsError) {
        let (width, height) = ImageLimits.full
        let palette = Palette(genre: card.genre)
        var canvas = try Picture {
            bookplate_vips_canvas(Int32(width), Int32(height), palette.ground, $0)
        }
        func paint(_ mask: Picture, _ color: [Double], left: Int, top: Int) throws(VipsError) {
            canvas = try Picture {
                bookplate_vips_paint(
                    canvas.pointer, mask.pointer, color, Int32(left), Int32(top), $0)
            }
        }
        func paintBand(top: Int, height bandHeight: Int, _ color: [Double]) throws(VipsError) {
            let mask = try Picture {
                bookplate_vips_canvas(Int32(width), Int32(bandHeight), [255, 255, 255], $0)
            }
            try paint(mask, color, left: 0, top: top)
        }
        try paintBand(top: 0, height: 14, palette.accent)
        try paintBand(top: height - 170, height: 4, palette.accent)
        let margin = 50
        let box = width - 2 * margin
        try paint(
            textMask(card.title, "serif bold", points: [72, 60, 48, 38, 30], box: (box, 500)),
            palette.ink, left: margin, top: 110)
        if let author = card.author {
            try paint(
                textMask(author, "sans", points: [34, 28, 22], box: (box, 90)), palette.ink,
                left: margin, top: height - 140)
        }
        if let genre = card.genre {
            try paint(
                textMask(genre.uppercased(), "sans bold", points: [20], box: (box, 30)),
                palette.accent, left: margin, top: 50)
        }
        return try variants(of: canvas.inMemory(), width: width, height: height)
    } catch {
        throw Rejection("The title cannot be drawn. Use a shorter or simpler title.")
    }
}

/// Renders the text as a mask, in the largest of the sizes in which it fits into the box. If it fits in none,
/// words are removed from its end and an ellipsis is added.
private func textMask(
    _ text: String, _ font: String, points: [Int], box: (width: Int, height: Int)
) throws(VipsError) -> Picture {
    var kept = text
    while true {
        let text = kept == text ? text : kept + " …"
        for size in points {
            let mask = try Picture {
                bookplate_vips_text(
                    escaped(text), "\(font) \(size)", Int32(box.width), 0, Int32(size / 8), $0)
            }
            if mask.height <= box.height, mask.width <= box.width { return try mask.inMemory() }
        }
        // Pango does not limit the size of its output, so shorten the text until it fits. A single word is
        // halved by scalars rather than characters, because one character can have hundreds of scalars.
        let words = kept.split(separator: " ")
        kept =
            words.count > 1
            ? words.dropLast().joined(separator: " ")
            : String(kept.unicodeScalars.prefix(kept.unicodeScalars.count / 2))
        guard !kept.isEmpty else { throw VipsError() }
    }
}

/// Escapes the text for Pango markup.
private func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
        switch character {
        case "<": result += "&lt;"
        case ">": result += "&gt;"
        case "&": result += "&amp;"
        default:
            // Control characters are not allowed in markup.
            let isControl = character.unicodeScalars.contains {
                $0.properties.generalCategory == .control
            }
            result += isControl ? " " : String(character)
        }
    }
    return result
}

/// Three colours that are determined by the name of a genre.
private struct Palette {
    let ground: [Double]
    let ink: [Double]
    let accent: [Double]

    init(genre: String?) {
        let palettes: [(ground: UInt32, ink: UInt32, accent: UInt32)] = [
            (0x1F2A44, 0xF4EFE6, 0xE0A458), (0x5B1A2E, 0xF8EDE3, 0xE5B25D),
            (0x16423C, 0xF1F0E8, 0xC9D787), (0x3D2645, 0xF3E9F5, 0xDD8EA4),
            (0x7A3E1D, 0xFBF3E7, 0xF2C57C), (0x0F4C5C, 0xEEF6F7, 0xF4A259),
            (0x2F3E46, 0xEDF2EF, 0x84A98C), (0x6A3937, 0xF9F1EC, 0xC9ADA7),
            (0x22333B, 0xF2F4F3, 0xC6AC8F), (0x432818, 0xFFE6A7, 0xBB9457),
        ]
        // FNV-1a of the name, so that a genre keeps its colours when other genres are added.
        let hash = (genre?.lowercased() ?? "").utf8.reduce(0x811C_9DC5 as UInt32) {
            ($0 ^ UInt32($1)) &* 0x0100_0193
        }
        let palette = palettes[Int(hash % UInt32(palettes.count))]
        ground = Self.rgb(palette.ground)
        ink = Self.rgb(palette.ink)
        accent = Self.rgb(palette.accent)
    }

    private static func rgb(_ hex: UInt32) -> [Double] {
        [Double(hex >> 16 & 255), Double(hex >> 8 & 255), Double(hex & 255)]
    }
}
