import FoundationEssentials
import Glibc
import Testing

@testable import Images

/// The real program with real images.
@Suite struct ImagerTests {
    static let pool = Result { () throws(ImageError) in try ImagerPool(processCount: 1) }

    static func fixture(_ name: String) throws -> [UInt8] {
        let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/")
        return Array(try Data(contentsOf: URL(filePath: "\(folder)/Fixtures/\(name)")))
    }

    private func cover(_ name: String) async throws -> CoverImages {
        try await Self.pool.get().cover(from: try Self.fixture(name))
    }

    @Test(arguments: [
        // Name, sides once upright, sides of the full and of the large variant.
        ("cover-dracula.jpg", [1400, 2100, 600, 900, 1000, 1500]),
        ("exif-orientation-6.jpg", [1200, 1800, 600, 900, 1000, 1500]),
        ("derived-orientation6-gps.jpg", [800, 1200, 600, 900, 800, 1200]),
        ("derived-cmyk.jpg", [600, 900, 600, 900, 600, 900]),
        ("derived-16bit.png", [300, 450, 300, 450, 300, 450]),
        ("derived-cover.heic", [600, 900, 600, 900, 600, 900]),
        ("derived-cover.avif", [600, 900, 600, 900, 600, 900]),
        ("derived-landscape.jpg", [1400, 400, 600, 172, 1000, 286]),
        ("derived-animated.webp", [120, 180, 120, 180, 120, 180]),
        ("alpha.png", [128, 128, 128, 128, 128, 128]),
        ("animated.gif", [85, 77, 85, 77, 85, 77]),
        ("derived-google-thumb-128x192.jpg", [128, 192, 128, 192, 128, 192]),
    ])
    func acceptedImagesFitTheirBoxes(name: String, sides: [Int]) async throws {
        let cover = try await cover(name)
        #expect(
            [
                cover.sourceWidth, cover.sourceHeight, cover.full.width, cover.full.height,
                cover.large.width, cover.large.height,
            ] == sides)
        #expect(cover.thumbnail.width <= 150 && cover.thumbnail.height <= 225)
        for variant in [cover.thumbnail, cover.full, cover.large] {
            #expect(variant.bytes.starts(with: [0xFF, 0xD8, 0xFF]))
            let text = String(decoding: variant.bytes, as: Unicode.ASCII.self)
            #expect(!text.contains("Exif") && !text.contains("ICC_PROFILE"))
        }
        #expect(cover.dominantColor.wholeMatch(of: /#[0-9A-F]{6}/) != nil)
        #expect(cover.blurHash.count == 28)
    }

    /// What goes through again keeps its size: nothing is enlarged or cut.
    @Test func aFinishedCoverStaysWhatItIs() async throws {
        let first = try await cover("cover-dracula.jpg")
        let again = try await Self.pool.get().cover(from: first.full.bytes)
        #expect(again.full.width == 600 && again.large.width == 600)
        #expect(again.full.bytes == again.large.bytes)
    }

    @Test func theSameImageGivesTheSameBytes() async throws {
        let (first, second) = (try await cover("alpha.png"), try await cover("alpha.png"))
        #expect(first == second)
    }

    @Test func alphaLiesOnWhite() async throws {
        let cover = try await cover("alpha.png")
        #expect(cover.evenness.luminanceDeviation > 1)
    }

    @Test func anEmptyPageIsTold() async throws {
        let blank = try await cover("derived-blank-white.jpg")
        #expect(blank.dominantColor == "#FAFAFA")
        #expect(blank.evenness.commonestColorShare > 0.99)
        #expect(blank.evenness.luminanceDeviation < 1)
        let picture = try await cover("cover-dracula.jpg")
        #expect(picture.evenness.commonestColorShare < 0.9)
        #expect(picture.evenness.luminanceDeviation > 10)
    }

    static let refused: [(what: String, bytes: [UInt8])] = [
        ("nothing", []), ("text", Array("hello".utf8)),
        (
            "SVG",
            Array(#"<svg xmlns="http://www.w3.org/2000/svg" width="99" height="99"/>"#.utf8)
        ),
        ("PDF", Array("%PDF-1.4\n".utf8)), ("PPM", Array("P6\n99 99\n255\n".utf8)),
        ("Matlab", Array("MATLAB 5.0 MAT-file".utf8)),
        ("a name alone", [0xFF, 0xD8, 0xFF, 0xE0]),
        ("TIFF", [0x49, 0x49, 0x2A, 0]), ("libvips' own", [0x08, 0xF2, 0xA6, 0xB6]),
        ("JPEG 2000", [0, 0, 0, 12, 0x6A, 0x50, 0x20, 0x20]),
    ]

    @Test(arguments: refused.indices)
    func whatIsNoAcceptedImageIsRefused(index: Int) async throws {
        await expectRefusal(Self.refused[index].bytes, Self.refused[index].what)
    }

    private func expectRefusal(_ bytes: [UInt8], _ what: String) async {
        do {
            _ = try await Self.pool.get().cover(from: bytes)
            Issue.record("\(what) was read")
        } catch ImageError.unsupported(let sentence) {
            #expect(!sentence.isEmpty)
        } catch {
            Issue.record("\(what): \(error)")
        }
    }

    @Test func bitmapsAreRefused() async throws {
        await expectRefusal(try Self.fixture("tiny.bmp"), "BMP")
    }

    @Test(arguments: [0.3, 0.9, 0.999])
    func aCutImageIsRefused(part: Double) async throws {
        let whole = try Self.fixture("cover-dracula.jpg")
        await expectRefusal(Array(whole.prefix(Int(Double(whole.count) * part))), "a cut JPEG")
    }

    @Test func aDamagedImageIsRefused() async throws {
        var bytes = try Self.fixture("cover-dracula.jpg")
        for index in 60_000..<62_000 {
            bytes[index] = UInt8(truncatingIfNeeded: index &* 31) & 0x7F
        }
        await expectRefusal(bytes, "a damaged JPEG")
    }

    /// A header alone tells the size: 900 megapixels of zeros in a few bytes.
    @Test func tooManyPixelsAreRefusedByTheHeader() async throws {
        var png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]
        png += Array("IHDR".utf8) + [0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30, 1, 0, 0, 0, 0]
        png +=
            [0x4E, 0x5C, 0xC5, 0x17] + [0, 0, 0, 0] + Array("IDAT".utf8) + [0x35, 0xAF, 0x06, 0x1E]
        png += [0, 0, 0, 0] + Array("IEND".utf8) + [0xAE, 0x42, 0x60, 0x82]
        await expectRefusal(png, "a huge PNG")
    }

    @Test func titlesAreSet() async throws {
        let pool = try Self.pool.get()
        var seen: Set<[UInt8]> = []
        for card in [
            TitleCard(title: "Dune", author: "Frank Herbert", genre: "Science Fiction"),
            TitleCard(title: "Dune", author: "Frank Herbert", genre: "Fantasy"),
            TitleCard(title: "<b>&\u{7}", author: nil, genre: nil),
            TitleCard(title: String(repeating: "Longword ", count: 60), author: "A", genre: "B"),
            TitleCard(title: String(repeating: "W", count: 500), author: "A", genre: "B"),
            TitleCard(title: "百年の孤独", author: "ガブリエル", genre: nil),
            // One character of a hundred scalars, wider than the card, and a word behind it.
            TitleCard(
                title: "Dune", author: nil, genre: String(repeating: "\u{1100}", count: 98) + " a"),
        ] {
            let images = try await pool.titleCard(card)
            #expect(images.full.width == 600 && images.full.height == 900)
            #expect(images.evenness.luminanceDeviation > 0)
            #expect(seen.insert(images.full.bytes).inserted)
        }
    }

    /// An idle server is small, and its next picture is made all the same.
    @Test(.timeLimit(.minutes(1))) func anIdleProcessEndsAndIsStartedAgain() async throws {
        let pool = try ImagerPool(processCount: 2, patience: .milliseconds(50))
        for _ in 0..<2 {
            _ = try await pool.titleCard(TitleCard(title: "Dune", author: nil, genre: nil))
            while pool.runningCount > 0 { try await Task.sleep(for: .milliseconds(5)) }
        }
        let busy = try ImagerPool(processCount: 1)
        #expect(busy.runningCount == 1)
    }

    /// The kernel may have ended it for its memory while nobody had an image for it: the next one is read.
    @Test(.timeLimit(.minutes(1))) func aProcessThatWasKilledIsStartedAgain() async throws {
        // By a name of its own, so that it is told from other tests'.
        let name = "/tmp/bookplate-imager-\(UInt64.random(in: 0...UInt64.max))"
        try #require(symlink(ImagerPool.usualProgram, name) == 0)
        defer { unlink(name) }
        let pool = try ImagerPool(program: name, processCount: 1)
        let processes = try FileManager.default.contentsOfDirectory(atPath: "/proc")
            .compactMap { Int32($0) }
            .filter {
                (try? String(contentsOfFile: "/proc/\($0)/cmdline", encoding: .utf8)) == name + "\0"
            }
        try #require(processes.count == 1)
        kill(processes[0], SIGKILL)
        // It is dead when nothing but its status is left.
        while let status = try? String(
            contentsOfFile: "/proc/\(processes[0])/stat", encoding: .utf8), !status.contains(") Z ")
        { try await Task.sleep(for: .milliseconds(5)) }
        _ = try await pool.titleCard(TitleCard(title: "Dune", author: nil, genre: nil))
        #expect(pool.runningCount == 1)
    }

    @Test func aProgramThatIsNotThereIsTold() {
        let error = #expect(throws: ImageError.self) {
            try ImagerPool(program: "/nowhere/bookplate-imager")
        }
        guard case .unavailable(let sentence)? = error else { return }
        #expect(sentence.contains("No such file"))
    }

    @Test func aProgramThatProvesNothingIsRefused() {
        #expect(throws: ImageError.self) { try ImagerPool(program: "/bin/true") }
    }
}
