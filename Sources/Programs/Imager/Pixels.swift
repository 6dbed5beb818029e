import Glibc
import ImageProcessing

/// The pixels of a small picture, and the algorithms that summarize them in a few bytes.
struct Pixels {
    let width: Int
    let height: Int
    /// Red, green, and blue of each pixel, row by row from the top.
    let rgb: [UInt8]

    private var count: Int { width * height }

    /// Counts the pixels of each colour, at four bits per channel.
    private func histogram() -> [Int] {
        var counts = [Int](repeating: 0, count: 4096)
        for pixel in 0..<count {
            counts[bin(pixel)] += 1
        }
        return counts
    }

    private func bin(_ pixel: Int) -> Int {
        Int(rgb[3 * pixel] >> 4) << 8 | Int(rgb[3 * pixel + 1] >> 4) << 4
            | Int(rgb[3 * pixel + 2] >> 4)
    }

    /// The mean of the pixels that have the most common colour, as `#RRGGBB`.
    var dominantColor: String {
        let counts = histogram()
        guard let most = counts.indices.max(by: { counts[$0] < counts[$1] }), counts[most] > 0
        else {
            return "#FFFFFF"
        }
        var sums = [0, 0, 0]
        for pixel in 0..<count where bin(pixel) == most {
            for channel in 0..<3 { sums[channel] += Int(rgb[3 * pixel + channel]) }
        }
        let digits = sums.map { sum -> String in
            let text = String(sum / counts[most], radix: 16, uppercase: true)
            return text.count == 1 ? "0" + text : text
        }
        return "#" + digits.joined()
    }

    var colorStatistics: CoverImages.ColorStatistics {
        let counts = histogram()
        var sum = 0.0
        var sumOfSquares = 0.0
        for pixel in 0..<count {
            // The luminance coefficients of Rec. 709.
            let luminance =
                0.2126 * Double(rgb[3 * pixel]) + 0.7152 * Double(rgb[3 * pixel + 1])
                + 0.0722 * Double(rgb[3 * pixel + 2])
            sum += luminance
            sumOfSquares += luminance * luminance
        }
        let mean = sum / Double(count)
        return .init(
            luminanceDeviation: max(0, sumOfSquares / Double(count) - mean * mean).squareRoot(),
            mostCommonColorShare: Double(counts.max() ?? 0) / Double(count),
            colorCount: counts.count { $0 > 0 })
    }

    /// A perceptual hash of 256 bits, one for each block of a grid of 16 by 16.
    ///
    /// A bit is set if the mean of its block is above the median of its horizontal quarter of the picture
    /// (four rows of blocks). Similar pictures have similar hashes, whatever their sizes and encodings.
    ///
    /// Algorithm: Yang, Gu, Niu, "Block Mean Value Based Image Perceptual Hashing", as in http://blockhash.io
    var blockHash: [UInt8] {
        let side = 16
        var sums = [Double](repeating: 0, count: side * side)
        var counts = [Int](repeating: 0, count: side * side)
        for y in 0..<height {
            for x in 0..<width {
                let pixel = 3 * (y * width + x)
                let block = y * side / height * side + x * side / width
                sums[block] += Double(rgb[pixel]) + Double(rgb[pixel + 1]) + Double(rgb[pixel + 2])
                counts[block] += 3
            }
        }
        // If a side has fewer than 16 pixels, some blocks have none.
        let means = zip(sums, counts).map { $1 == 0 ? 0 : $0 / Double($1) }
        var bytes = [UInt8](repeating: 0, count: side * side / 8)
        let quarter = means.count / 4
        for start in stride(from: 0, to: means.count, by: quarter) {
            let sorted = means[start..<start + quarter].sorted()
            let median = (sorted[quarter / 2 - 1] + sorted[quarter / 2]) / 2
            for block in start..<start + quarter {
                // Blocks that equal the median are set only if the median itself is bright.
                let isEven = abs(means[block] - median) < 1
                if isEven ? median > 127.5 : means[block] > median {
                    bytes[block / 8] |= 0x80 >> UInt8(block % 8)
                }
            }
        }
        return bytes
    }

    /// The BlurHash with three by four components.
    ///
    /// Spec: https://github.com/woltapp/blurhash/blob/master/Algorithm.md
    func blurHash() -> String {
        let (columns, rows) = (3, 4)
        let linear = (0..<256).map { byte -> Double in
            let value = Double(byte) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        let factors = factors(columns, rows, linear)
        let largest = factors.dropFirst().joined().map(abs).max() ?? 0
        let quantized = max(0, min(82, Int(largest * 166 - 0.5)))
        let scale = Double(quantized + 1) / 166
        var hash =
            BlurHash.base83((columns - 1) + (rows - 1) * 9, digits: 1)
            + BlurHash.base83(quantized, digits: 1)
        hash += BlurHash.base83(factors[0].reduce(0) { $0 << 8 | sRGB($1) }, digits: 4)
        for factor in factors.dropFirst() {
            let value = factor.reduce(0) { value, channel in
                let root = copysign((abs(channel) / scale).squareRoot(), channel)
                return value * 19 + max(0, min(18, Int((root * 9 + 9.5).rounded(.down))))
            }
            hash += BlurHash.base83(value, digits: 2)
        }
        return hash
    }

    /// Computes the components of the discrete cosine transform, by channel: first within each row, then
    /// across the rows.
    private func factors(_ columns: Int, _ rows: Int, _ linear: [Double]) -> [[Double]] {
        func cosines(_ frequency: Int, _ length: Int) -> [Double] {
            (0..<length).map { cos(.pi * Double(frequency) * Double($0) / Double(length)) }
        }
        let across = (0..<rows).map { cosines($0, height) }
        var factors = [[Double]](repeating: [0, 0, 0], count: columns * rows)
        for column in 0..<columns {
            let along = cosines(column, width)
            for y in 0..<height {
                var line = (0.0, 0.0, 0.0)
                for x in 0..<width {
                    let pixel = 3 * (y * width + x)
                    line.0 += along[x] * linear[Int(rgb[pixel])]
                    line.1 += along[x] * linear[Int(rgb[pixel + 1])]
                    line.2 += along[x] * linear[Int(rgb[pixel + 2])]
                }
                for row in 0..<rows {
                    let scale = (column == 0 && row == 0 ? 1 : 2) / Double(count)
                    let weight = across[row][y] * scale
                    factors[row * columns + column][0] += weight * line.0
                    factors[row * columns + column][1] += weight * line.1
                    factors[row * columns + column][2] += weight * line.2
                }
            }
        }
        return factors
    }

    private func sRGB(_ linear: Double) -> Int {
        let value = max(0, min(1, linear))
        let encoded = value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
        return Int(encoded * 255 + 0.5)
    }
}
