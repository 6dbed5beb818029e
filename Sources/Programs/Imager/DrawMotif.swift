import Glibc
import ImageProcessing

/// Draws the picture of a title card: a geometric pattern of the genre's colors. The text determines it, so each book has its own.
func drawMotif(
    _ text: String, _ palette: TitleCardPalette, on canvas: inout Canvas, top: Int, height: Int
) {
    var painter = Painter(text, palette, canvas, top: top, height: height)
    switch painter.random(8) {
    case 0: painter.drawTiles()
    case 1: painter.drawMountains()
    case 2: painter.drawWaves()
    case 3: painter.drawArcs()
    case 4: painter.drawShelf()
    case 5: painter.drawDots()
    case 6: painter.drawRays()
    default: painter.drawCircles()
    }
    canvas = painter.canvas
}

/// Paints shapes, which are given by the distance of a point to their outline in pixels: negative inside, positive outside.
private struct Painter {
    private(set) var canvas: Canvas
    private let top: Int
    private let width: Int
    private let height: Int
    /// The accent, two mixtures of the accent and the background, and the ink.
    private let strong, medium, faint, ink: UInt32
    private var state: UInt64

    init(
        _ text: String, _ palette: TitleCardPalette, _ canvas: Canvas, top: Int, height: Int
    ) {
        self.canvas = canvas
        self.top = top
        self.width = canvas.width
        self.height = height
        strong = palette.accent
        medium = mixed(palette.ground, palette.accent, 0.55)
        faint = mixed(palette.ground, palette.accent, 0.28)
        ink = mixed(palette.ground, palette.ink, 0.85)
        // FNV-1a of the text.
        state = text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// Returns a number from 0 to `count - 1`, which is the same for the same text on each run (SplitMix64).
    mutating func random(_ count: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(count))
    }

    private mutating func random(_ range: ClosedRange<Double>) -> Double {
        range.lowerBound + (range.upperBound - range.lowerBound) * Double(random(1001)) / 1000
    }

    private mutating func paint(_ color: UInt32, _ distance: (Double, Double) -> Double) {
        for y in 0..<height {
            for x in 0..<width {
                // The edge of a shape covers a part of its pixels.
                let inside = 0.5 - distance(Double(x) + 0.5, Double(y) + 0.5)
                if inside > 0 { canvas.blend(color, min(1, inside), x, top + y) }
            }
        }
    }

    private func circle(_ x: Double, _ y: Double, _ radius: Double) -> (Double, Double) -> Double {
        { hypot($0 - x, $1 - y) - radius }
    }

    mutating func drawTiles() {
        let side = Double(width) / 6
        let columns = 6, rows = Int(Double(height) / side) + 1
        let kinds = (0..<columns * rows).map { _ in random(7) }
        let colors = (0..<columns * rows).map { _ in random(3) }
        for (index, color) in [faint, medium, strong].enumerated() {
            paint(color) { x, y in
                let tile = Int(y / side) * columns + min(columns - 1, Int(x / side))
                guard colors[tile] == index else { return 1 }
                let (u, v) = (
                    x.truncatingRemainder(dividingBy: side), y.truncatingRemainder(dividingBy: side)
                )
                return switch kinds[tile] {
                case 0: hypot(u, v) - side
                case 1: hypot(side - u, v) - side
                case 2: hypot(u, side - v) - side
                case 3: hypot(side - u, side - v) - side
                case 4: hypot(u - side / 2, v - side / 2) - side / 2
                case 5: (u - v) / 2.squareRoot()
                default: 1
                }
            }
        }
    }

    mutating func drawMountains() {
        let (width, height) = (Double(width), Double(height))
        paint(ink, circle(random(0.2...0.8) * width, height * 0.3, height * random(0.12...0.22)))
        for (index, color) in [faint, medium, strong].enumerated() {
            let peaks = 3 + random(3)
            let top = height * (0.25 + 0.22 * Double(index))
            let points = (0...2 * peaks).map { point in
                point % 2 == index % 2
                    ? top + height * random(0.18...0.3) : top + height * random(-0.05...0.08)
            }
            paint(color) { x, y in
                let position = x / width * Double(2 * peaks)
                let left = min(2 * peaks - 1, Int(position))
                let slope = points[left + 1] - points[left]
                let ridge = points[left] + slope * (position - Double(left))
                // The distance to a steep line is less than the vertical one.
                return (ridge - y) / hypot(1, slope * Double(2 * peaks) / width)
            }
        }
    }

    mutating func drawWaves() {
        let (width, height) = (Double(width), Double(height))
        paint(ink, circle(random(0.25...0.75) * width, height * 0.32, height * random(0.18...0.28)))
        for (index, color) in [faint, medium, strong, faint].enumerated() {
            let top = height * (0.32 + 0.17 * Double(index))
            let length = width / random(1.2...2.4)
            let (phase, size) = (random(0...6.28), height * random(0.04...0.08))
            paint(color) { x, y in
                let angle = x / length * 2 * .pi + phase
                let slope = size * 2 * .pi / length * cos(angle)
                return (top + size * sin(angle) - y) / hypot(1, slope)
            }
        }
    }

    mutating func drawArcs() {
        let (width, height) = (Double(width), Double(height))
        let (x, ring) = (width * [0.0, 0.5, 1.0][random(3)], 22.0 + Double(random(3)) * 5)
        for (index, color) in [strong, medium].enumerated() {
            paint(color) { px, py in
                let radius = hypot(px - x, py - height)
                let place =
                    radius.truncatingRemainder(dividingBy: 4 * ring) - (Double(index) * 2 + 1)
                    * ring
                return max(abs(place) - ring * 0.62, radius - height * 0.97)
            }
        }
    }

    /// Books on a shelf.
    mutating func drawShelf() {
        let (width, height) = (Double(width), Double(height))
        let shelf = height - 26
        var books: [(left: Double, right: Double, top: Double, color: Int, hasBand: Bool)] = []
        var left = random(20...50)
        while left < width - 40 {
            let right = min(left + random(24...64), width - 20)
            books.append((left, right, height * random(0.08...0.5), random(3), random(2) == 0))
            left = right + (random(6) == 0 ? random(20...70) : 3)
        }
        for (index, color) in [faint, medium, strong].enumerated() {
            paint(color) { x, y in
                guard let book = books.last(where: { $0.left - 1 <= x }), book.color == index else {
                    return 1
                }
                return max(book.left - x, x - book.right, book.top - y, y - shelf)
            }
        }
        paint(ink) { x, y in
            if y >= shelf { return max(shelf - y, y - shelf - 5) }
            guard let book = books.last(where: { $0.left - 1 <= x }), book.hasBand else { return 1 }
            let bands = [book.top + 18, book.top + 28].map { abs(y - $0) - 2 }
            return max(book.left - x, x - book.right, min(bands[0], bands[1]))
        }
    }

    mutating func drawDots() {
        let (width, height) = (Double(width), Double(height))
        // Whole rows and columns.
        let step = height / (height / 30).rounded()
        let (centerX, centerY) = (width * random(0.1...0.9), height * random(0.2...0.8))
        for (index, color) in [medium, strong].enumerated() {
            paint(color) { x, y in
                let (column, row) = ((x / step).rounded(.down), (y / step).rounded(.down))
                guard (Int(column) + Int(row)) % 2 == index else { return 1 }
                let (u, v) = ((column + 0.5) * step, (row + 0.5) * step)
                let near = 1 - hypot(u - centerX, v - centerY) / (width * 0.75)
                return hypot(x - u, y - v) - max(1.5, step * 0.56 * near)
            }
        }
    }

    mutating func drawRays() {
        let (width, height) = (Double(width), Double(height))
        let (x, y) = (width * random(0.3...0.7), height)
        let count = Double(14 + 2 * random(4))
        paint(faint) { px, py in
            let (dx, dy) = (px - x, y - py)
            let turn = atan2(dy, dx) / .pi * count
            let place = abs(turn.truncatingRemainder(dividingBy: 2) - 1) - 0.5
            return place * hypot(dx, dy) * .pi / count
        }
        paint(medium, circle(x, y, height * 0.62))
        paint(strong, circle(x, y, height * 0.44))
        paint(ink, circle(x, y, height * 0.24))
    }

    mutating func drawCircles() {
        let (width, height) = (Double(width), Double(height))
        let radius = height * random(0.34...0.42)
        let shapes = [0.3, 0.5, 0.7].map { share in
            circle(width * share + random(-20...20), height * random(0.42...0.58), radius)
        }
        for (index, color) in [faint, medium, strong].enumerated() { paint(color, shapes[index]) }
        paint(ink) { x, y in max(shapes[0](x, y), shapes[1](x, y), shapes[2](x, y)) }
    }
}

/// Returns a mixture of two colors, 0xRRGGBB.
private func mixed(_ from: UInt32, _ to: UInt32, _ share: Double) -> UInt32 {
    var color: UInt32 = 0
    for shift: UInt32 in [16, 8, 0] {
        let (a, b) = (Double(from >> shift & 255), Double(to >> shift & 255))
        color |= UInt32((a + (b - a) * share).rounded()) << shift
    }
    return color
}
