import CVips

/// A text that is wrapped and centered in a box, in the largest of the sizes in which it fits.
struct TextBox {
    private let text: String
    private let font: String
    /// The opening tag of the markup.
    private let tag: String
    /// The font sizes in pixels, the largest first.
    private let sizes: [Int]
    private let width: Int
    private let height: Int

    /// - Parameters:
    ///   - font: The names of fonts in Pango's syntax. Characters that they do not have are taken from other fonts.
    ///   - color: The color as 0xRRGGBB. Emoji have colors of their own.
    ///   - letterSpacing: Additional space between characters, in 1024ths of a pixel.
    init(
        _ text: String, font: String, color: UInt32, sizes: [Int], letterSpacing: Int = 0,
        width: Int, height: Int
    ) {
        let digits = String(color, radix: 16)
        let hex = String(repeating: "0", count: 6 - digits.count) + digits
        tag =
            "<span foreground=\"#\(hex)\" letter_spacing=\"\(letterSpacing)\" line_height=\"0.88\">"
        self.text = text
        self.font = font
        self.sizes = sizes
        self.width = width
        self.height = height
    }

    private func markup(_ text: String) -> String { "\(tag)\(escaped(text))</span>" }

    /// - Throws: libvips's error if not even the beginning of the text can be drawn.
    func draw() throws(VipsError) -> Picture {
        // Chinese, Japanese, and Korean can be broken after most characters, but a short word looks better on one line.
        let unbroken = joined(text)
        if unbroken != text,
            let picture = try largest(unbroken, sizes.filter { $0 >= sizes[0] / 3 })
        {
            return picture
        }
        if let picture = try largest(text, sizes) { return picture }
        return try shortened()
    }

    /// Returns the text in the largest of the sizes in which it fits without breaking a word; nil if it fits in none.
    private func largest(_ text: String, _ sizes: [Int]) throws(VipsError) -> Picture? {
        let words = try measured(text, width: 1)
        // Sizes that are clearly too large are not drawn: a word of 500 letters would be a picture of 100 MB.
        for size in sizes where words.width * size <= width * Self.scale * 11 / 10 {
            let estimate = try measured(text, width: width * Self.scale / size)
            guard estimate.height * size <= height * Self.scale * 12 / 10 else { continue }
            if let picture = try picture(text, size) { return try balanced(picture, text, size) }
        }
        return nil
    }

    /// The font size of `measured`, for which texts of all allowed lengths are small pictures.
    private static let scale = 10

    /// Returns the size of the text in a small font. Larger fonts have sizes in proportion.
    private func measured(_ text: String, width: Int) throws(VipsError) -> (width: Int, height: Int)
    {
        let picture = try Picture {
            bookplate_vips_text_mask(
                markup(text), "\(font) \(Self.scale)", Int32(max(1, width)), $0)
        }
        return (picture.width, picture.height)
    }

    /// Returns the longest beginning of the text that fits in one of the smaller fonts, with an ellipsis. Breaks long words.
    private func shortened() throws(VipsError) -> Picture {
        let words = text.split(separator: " ")
        if words.count > 1,
            let picture = try longest(
                words.count, { words.prefix($0).joined(separator: " ") })
        {
            return picture
        }
        // A word is shortened by scalars rather than characters, because one character can have hundreds of scalars.
        let scalars = Array(text.unicodeScalars)
        let picture = try longest(scalars.count) { count in
            var beginning = String.UnicodeScalarView()
            beginning.append(contentsOf: scalars.prefix(count))
            return String(beginning)
        }
        guard let picture else { throw VipsError() }
        return picture
    }

    /// Returns the longest of the beginnings with 1 to `countMax` parts that fits; nil if none fits.
    private func longest(
        _ countMax: Int, _ beginning: (Int) -> String
    ) throws(VipsError) -> Picture? {
        let size = sizes[sizes.count * 2 / 3]
        var best: Picture?
        var (fits, tooMany) = (0, countMax + 1)
        while tooMany - fits > 1 {
            let count = (fits + tooMany) / 2
            let text = count == countMax ? text : beginning(count) + " …"
            if let picture = try picture(text, size, breaksWords: true) {
                (best, fits) = (picture, count)
            } else {
                tooMany = count
            }
        }
        return best
    }

    /// Lines of about the same length look better than a long and a short one.
    private func balanced(
        _ picture: Picture, _ text: String, _ size: Int
    ) throws(VipsError) -> Picture {
        var best = picture
        var (narrow, wide) = (picture.width / 2, picture.width)
        while wide - narrow > 8 {
            let middle = (narrow + wide) / 2
            if let smaller = try self.picture(text, size, width: middle),
                smaller.height <= picture.height
            {
                (best, wide) = (smaller, middle)
            } else {
                narrow = middle
            }
        }
        return best
    }

    /// Returns the text in a font size; nil if it does not fit.
    private func picture(
        _ text: String, _ size: Int, breaksWords: Bool = false, width: Int? = nil
    ) throws(VipsError) -> Picture? {
        let width = width ?? self.width
        let picture = try Picture {
            bookplate_vips_text(
                markup(text), "\(font) \(size)", Int32(width), breaksWords ? 1 : 0, $0)
        }
        return picture.width <= width && picture.height <= height ? try picture.inMemory() : nil
    }
}

/// Returns the text without places for line breaks between Chinese, Japanese, and Korean characters.
private func joined(_ text: String) -> String {
    func isBreakable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x3005...0x30FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFF01...0xFFEE, 0x20000...0x3FFFF:
            true
        default: false
        }
    }
    var result = String.UnicodeScalarView()
    var last: Unicode.Scalar?
    for scalar in text.unicodeScalars {
        if let last, isBreakable(last), isBreakable(scalar) { result.append("\u{2060}") }
        result.append(scalar)
        last = scalar
    }
    return String(result)
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
            let isControl = character.unicodeScalars.contains {
                $0.properties.generalCategory == .control
            }
            result += isControl ? " " : String(character)
        }
    }
    return result
}
