import Foundation

/// A placeholder of a few bytes for an image: https://blurha.sh.
public struct BlurHash: Hashable, Sendable {
    /// The factors of the cosine waves in linear light, row by row, the average color first.
    private let factors: [SIMD3<Double>]
    private let columns: Int
    private let rows: Int

    private static let digits: [UInt8: Int] = {
        let alphabet =
            "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~"
        return Dictionary(
            uniqueKeysWithValues: alphabet.utf8.enumerated().map { ($0.element, $0.offset) })
    }()

    /// Reads a hash. Nil if the text is not one.
    public init?(_ text: String) {
        let values = text.utf8.compactMap { Self.digits[$0] }
        guard values.count == text.utf8.count, values.count >= 6 else { return nil }
        func number(_ range: Range<Int>) -> Int { values[range].reduce(0) { $0 * 83 + $1 } }
        columns = values[0] % 9 + 1
        rows = values[0] / 9 + 1
        guard values[0] < 81, values.count == 4 + 2 * columns * rows else { return nil }
        let largest = Double(values[1] + 1) / 166
        let average = number(2..<6)
        guard average < 1 << 24 else { return nil }
        var factors = [
            SIMD3(
                Self.linear(average >> 16), Self.linear(average >> 8 & 255),
                Self.linear(average & 255))
        ]
        for start in stride(from: 6, to: values.count, by: 2) {
            let value = number(start..<start + 2)
            let parts = SIMD3(
                Double(value / 361), Double(value / 19 % 19), Double(value % 19))
            let signed = (parts - 9) / 9
            factors.append(
                SIMD3(
                    signed.x * abs(signed.x), signed.y * abs(signed.y), signed.z * abs(signed.z))
                    * largest)
        }
        self.factors = factors
    }

    /// Returns the placeholder as pixels: red, green, blue, and 255 for each, in sRGB, row by row from the top. 32 pixels per side are
    /// enough: the view scales them. Empty if a side is not between 1 and 1,000.
    public func pixels(width: Int, height: Int) -> [UInt8] {
        guard 1...1000 ~= width, 1...1000 ~= height else { return [] }
        let (across, down) = (Self.waves(columns, width), Self.waves(rows, height))
        var pixels: [UInt8] = []
        pixels.reserveCapacity(4 * width * height)
        for y in 0..<height {
            // The sum over the rows of the hash is the same for all pixels of a line.
            let line = (0..<columns).map { column in
                (0..<rows).reduce(SIMD3<Double>()) {
                    $0 + factors[$1 * columns + column] * down[y * rows + $1]
                }
            }
            for x in 0..<width {
                var color = SIMD3<Double>()
                for column in 0..<columns { color += line[column] * across[x * columns + column] }
                pixels += [Self.sRGB(color.x), Self.sRGB(color.y), Self.sRGB(color.z), 255]
            }
        }
        return pixels
    }

    private static func waves(_ count: Int, _ length: Int) -> [Double] {
        (0..<length).flatMap { position in
            (0..<count).map { cos(.pi * Double(position * $0) / Double(length)) }
        }
    }

    private static func linear(_ byte: Int) -> Double {
        let value = Double(byte) / 255
        return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    private static func sRGB(_ linear: Double) -> UInt8 {
        let value = min(max(linear, 0), 1)
        let coded = value <= 0.003_130_8 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
        return UInt8(coded * 255 + 0.5)
    }
}
