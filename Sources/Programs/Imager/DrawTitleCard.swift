import CVips
import ImageProcessing

/// Draws a title, an author, and a pattern in the colors of a genre, as a cover for a book without one.
func drawTitleCard(_ card: TitleCard) throws(Rejection) -> CoverImages {
    do throws(VipsError) {
        return try variants(
            of: try TitleCardLayout(card).draw(), width: ImageLimits.full.width,
            height: ImageLimits.full.height)
    } catch {
        throw Rejection("The title cannot be drawn. Use a shorter or simpler title.")
    }
}

/// From the top: the genre, the title, the pattern, and the author.
private struct TitleCardLayout {
    private static let margin = 44
    /// The space between the title, the pattern, and the author.
    private static let gap = 34
    /// The top of the pattern, if the title leaves more space.
    private static let motifTopMin = 400
    private static let motifHeightMin = 200

    /// All sizes are in pixels. Each is about a ninth smaller than the one before.
    private static let titleSizes = [
        190, 166, 146, 130, 116, 104, 93, 83, 74, 66, 59, 53, 47, 42, 37, 33, 30, 27, 24, 21, 18,
    ]

    private let card: TitleCard
    private let palette: TitleCardPalette

    init(_ card: TitleCard) {
        self.card = card
        palette = .of(card.genre)
    }

    func draw() throws(VipsError) -> Picture {
        let (width, height) = ImageLimits.full
        var canvas = Canvas(width: width, height: height, color: palette.ground)
        func place(_ text: Picture, top: Int) throws(VipsError) {
            try canvas.draw(text, left: (width - text.width) / 2, top: top)
        }
        let box = width - 2 * Self.margin
        var top = Self.margin
        if let genre = card.genre {
            let text = try TextBox(
                genre.uppercased(), font: "Noto Sans, sans bold", color: palette.accent,
                sizes: [20, 16, 13], letterSpacing: 2500, width: box, height: 30
            ).draw()
            try place(text, top: top)
            top += 30
        }
        top += 26
        var bottom = height - Self.margin
        if let author = card.author {
            let text = try TextBox(
                author, font: "Noto Serif, serif", color: palette.ink,
                sizes: [42, 37, 32, 28, 24, 20], width: box, height: 84
            ).draw()
            bottom -= text.height
            try place(text, top: bottom)
            bottom -= Self.gap
        }
        let title = try TextBox(
            card.title, font: "Noto Serif, serif bold", color: palette.ink,
            sizes: Self.titleSizes, width: box,
            height: bottom - top - Self.gap - Self.motifHeightMin
        ).draw()
        // A short title is in the middle of its space.
        let motifTop = max(top + title.height + Self.gap, Self.motifTopMin)
        try place(title, top: top + (motifTop - Self.gap - top - title.height) / 2)
        drawMotif(
            card.title + "\u{0}" + (card.author ?? ""), palette, on: &canvas, top: motifTop,
            height: bottom - motifTop)
        return try canvas.picture()
    }
}
