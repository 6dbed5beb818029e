import TestSupport
import Testing

@testable import Bookplate

/// Judges real images after the real imager has decoded them.
@Suite struct JudgeCoverTests {
    static let app = Shared { try await TestApp.start(catalog: []) }

    private func judgement(_ bytes: [UInt8]) async throws -> CoverJudgement {
        CoverJudgement(try await Self.app().covers.images.cover(from: bytes), bytes: bytes)
    }

    @Test(arguments: [
        ("cover-dracula.jpg", CoverJudgement.usable(quality: 6)),
        ("derived-cover.avif", .usable(quality: 6)),
        // The size of Google's thumbnails.
        ("derived-google-thumb-128x192.jpg", .usable(quality: 1)),
        ("derived-landscape.jpg", .refused(.wronglyShaped)),
        ("derived-blank-white.jpg", .refused(.blank)),
        ("animated.gif", .refused(.tooSmall)),
    ])
    func judgesRealImages(name: String, expected: CoverJudgement) async throws {
        #expect(try await judgement(try imageFixture(name)) == expected)
    }

    @Test(arguments: [
        (99, 150, false), (100, 150, true), (100, 99, false), (200, 505, false), (200, 495, true),
        (230, 200, false), (215, 200, true),
    ])
    func judgesSizesAndShapes(width: Int, height: Int, isUsable: Bool) async throws {
        let judgement = try await judgement(TestImage.png(width: width, height: height))
        if case .usable = judgement { #expect(isUsable) } else { #expect(!isUsable) }
    }

    /// A square image, such as an audiobook cover, is usable but has a lower quality.
    @Test func prefersTheShapeOfABook() async throws {
        let square = try await judgement(TestImage.png(width: 500, height: 500))
        #expect(square == .usable(quality: 2))
        #expect(
            try await judgement(TestImage.png(width: 300, height: 450)) == .usable(quality: 3))
    }

    /// Redraws Google's "image not available" from its block hash, in several sizes and on almost white backgrounds.
    @Test(arguments: [(575, 750, 255), (128, 170, 250), (300, 391, 240)])
    func recognizesAPlaceholderByItsBlockHash(width: Int, height: Int, ground: Int) async throws {
        let rows: [UInt16] = [
            0xFFFF, 0xFFFF, 0xFFFF, 0xE007, 0xE007, 0xE007, 0xFF9F, 0xF81F, 0xF83F, 0xFFFF, 0x8001,
            0x8001, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF,
        ]
        func drawn(_ rows: [UInt16]) -> [UInt8] {
            TestImage.png(width: width, height: height) { x, y in
                let isInk = rows[y * 16 / height] >> (15 - x * 16 / width) & 1 == 0
                // Draws strokes instead of solid blocks: a third of each line is ink.
                let isStroke = isInk && (x % 3 == 0)
                return [UInt8](repeating: isStroke ? 120 : UInt8(ground), count: 3)
            }
        }
        #expect(try await judgement(drawn(rows)) == .refused(.placeholder))
        // The same image upside down is not a placeholder.
        let other = try await judgement(drawn(rows.reversed()))
        #expect(other != .refused(.placeholder))
    }

    /// Open Library's placeholder is recognized by the hash of the file, independent of its size.
    @Test func recognizesAPlaceholderByItsFile() async throws {
        let empty = CoverWorld.emptyImage
        #expect(Placeholders.match(empty, blockHash: []))
        #expect(!Placeholders.match(empty + [0], blockHash: []))
        #expect(!Placeholders.match(try imageFixture("cover-dracula.jpg"), blockHash: []))
    }
}
