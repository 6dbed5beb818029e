import CVips
import ImageProcessing

/// Draws a title and an author on the colours of a genre, as a cover for a book without one.
func drawTitleCard(_ card: TitleCard) throws(Rejection) -> CoverImages {
    do throws(VipsError) {
        let (width, height) = ImageLimits.full
        let palette = TitleCardPalette.of(card.genre)
        let (ink, accent) = (rgb(palette.ink), rgb(palette.accent))
        var canvas = try Picture {
            bookplate_vips_canvas(Int32(width), Int32(height), rgb(palette.ground), $0)
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
        try paintBand(top: 0, height: 14, accent)
        try paintBand(top: height - 170, height: 4, accent)
        let margin = 50
        let box = width - 2 * margin
        try paint(
            textMask(card.title, "serif bold", points: [72, 60, 48, 38, 30], box: (box, 500)),
            ink, left: margin, top: 110)
        if let author = card.author {
            try paint(
                textMask(author, "sans", points: [34, 28, 22], box: (box, 90)), ink,
                left: margin, top: height - 140)
        }
        if let genre = card.genre {
            try paint(
                textMask(genre.uppercased(), "sans bold", points: [20], box: (box, 30)),
                accent, left: margin, top: 50)
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

/// Returns red, green, and blue of 0xRRGGBB.
private func rgb(_ hex: UInt32) -> [Double] {
    [Double(hex >> 16 & 255), Double(hex >> 8 & 255), Double(hex & 255)]
}
