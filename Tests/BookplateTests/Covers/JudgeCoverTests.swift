import TestSupport
import Testing

@testable import Bookplate

/// What is a cover: real pictures through the real imager.
@Suite struct JudgeCoverTests {
    static let app = Shared { try await TestApp.start(catalog: []) }

    private func judgement(_ bytes: [UInt8]) async throws -> CoverJudgement {
        CoverJudgement(try await Self.app().covers.images.cover(from: bytes), bytes: bytes)
    }

    @Test(arguments: [
        ("cover-dracula.jpg", CoverJudgement.usable(quality: 6)),
        ("derived-cover.avif", .usable(quality: 6)),
        // As small as Google's thumbnails are.
        ("derived-google-thumb-128x192.jpg", .usable(quality: 1)),
        ("derived-landscape.jpg", .refused(.wronglyShaped)),
        ("derived-blank-white.jpg", .refused(.blank)),
        ("animated.gif", .refused(.tooSmall)),
    ])
    func realPictures(name: String, expected: CoverJudgement) async throws {
        #expect(try await judgement(try picture(name)) == expected)
    }

    @Test(arguments: [
        (99, 150, false), (100, 150, true), (100, 99, false), (200, 505, false), (200, 495, true),
        (230, 200, false), (215, 200, true),
    ])
    func sidesAndShapes(width: Int, height: Int, isUsable: Bool) async throws {
        let judgement = try await judgement(TestImage.png(width: width, height: height))
        if case .usable = judgement { #expect(isUsable) } else { #expect(!isUsable) }
    }

    /// A square one, as audio books have, is taken where there is no better one.
    @Test func aBooksShapeIsBetter() async throws {
        let square = try await judgement(TestImage.png(width: 500, height: 500))
        #expect(square == .usable(quality: 2))
        #expect(
            try await judgement(TestImage.png(width: 300, height: 450)) == .usable(quality: 3))
    }

    /// Google's "image not available" in any size, on any ground that is nearly white; as its block hash has it.
    @Test(arguments: [(575, 750, 255), (128, 170, 250), (300, 391, 240)])
    func aPlaceholderIsToldByItsLook(width: Int, height: Int, ground: Int) async throws {
        let rows: [UInt16] = [
            0xFFFF, 0xFFFF, 0xFFFF, 0xE007, 0xE007, 0xE007, 0xFF9F, 0xF81F, 0xF83F, 0xFFFF, 0x8001,
            0x8001, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF,
        ]
        func drawn(_ rows: [UInt16]) -> [UInt8] {
            TestImage.png(width: width, height: height) { x, y in
                let isInk = rows[y * 16 / height] >> (15 - x * 16 / width) & 1 == 0
                // Strokes, not blocks: a third of a line is ink.
                let isStroke = isInk && (x % 3 == 0)
                return [UInt8](repeating: isStroke ? 120 : UInt8(ground), count: 3)
            }
        }
        #expect(try await judgement(drawn(rows)) == .refused(.placeholder))
        // The same with its lines elsewhere is a picture.
        let other = try await judgement(drawn(rows.reversed()))
        #expect(other != .refused(.placeholder))
    }

    /// The file that Open Library sends without `default=false`, known by its hash before its size.
    @Test func aPlaceholderIsToldByItsFile() async throws {
        let empty = CoverWorld.emptyPicture
        #expect(Placeholders.contain(empty, lookingLike: []))
        #expect(!Placeholders.contain(empty + [0], lookingLike: []))
        #expect(!Placeholders.contain(try picture("cover-dracula.jpg"), lookingLike: []))
    }
}
