import Basics
import FoundationEssentials
import Glibc
import Testing

@testable import ImageProcessing

/// Tests of the real imager program with real images.
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
        // File name; width and height of the source, the full variant, and the large variant.
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
    func acceptsImagesAndFitsThemIntoTheirBoxes(name: String, sides: [Int]) async throws {
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

    /// A cover that is processed again keeps its size: it is neither enlarged nor cropped.
    @Test func processingAVariantAgainKeepsItsSize() async throws {
        let first = try await cover("cover-dracula.jpg")
        let again = try await Self.pool.get().cover(from: first.full.bytes)
        #expect(again.full.width == 600 && again.large.width == 600)
        #expect(again.full.bytes == again.large.bytes)
    }

    @Test func sameImageYieldsTheSameBytes() async throws {
        let (first, second) = (try await cover("alpha.png"), try await cover("alpha.png"))
        #expect(first == second)
    }

    @Test func transparencyIsFlattenedOnWhite() async throws {
        let cover = try await cover("alpha.png")
        #expect(cover.colorStatistics.luminanceDeviation > 1)
    }

    @Test func colorStatisticsDistinguishBlankPages() async throws {
        let blank = try await cover("derived-blank-white.jpg")
        #expect(blank.dominantColor == "#FAFAFA")
        #expect(blank.colorStatistics.mostCommonColorShare > 0.99)
        #expect(blank.colorStatistics.luminanceDeviation < 1)
        let picture = try await cover("cover-dracula.jpg")
        #expect(picture.colorStatistics.mostCommonColorShare < 0.9)
        #expect(picture.colorStatistics.luminanceDeviation > 10)
    }

    static let rejected: [(what: String, bytes: [UInt8])] = [
        ("empty input", []), ("text", Array("hello".utf8)),
        (
            "SVG",
            Array(#"<svg xmlns="http://www.w3.org/2000/svg" width="99" height="99"/>"#.utf8)
        ),
        ("PDF", Array("%PDF-1.4\n".utf8)), ("PPM", Array("P6\n99 99\n255\n".utf8)),
        ("Matlab", Array("MATLAB 5.0 MAT-file".utf8)),
        ("only the signature of a JPEG", [0xFF, 0xD8, 0xFF, 0xE0]),
        ("TIFF", [0x49, 0x49, 0x2A, 0]), ("libvips's own format", [0x08, 0xF2, 0xA6, 0xB6]),
        ("JPEG 2000", [0, 0, 0, 12, 0x6A, 0x50, 0x20, 0x20]),
    ]

    @Test(arguments: rejected.indices)
    func rejectsOtherFormats(index: Int) async throws {
        await expectRejection(Self.rejected[index].bytes, Self.rejected[index].what)
    }

    private func expectRejection(_ bytes: [UInt8], _ what: String) async {
        do {
            _ = try await Self.pool.get().cover(from: bytes)
            Issue.record("\(what) was accepted")
        } catch ImageError.unsupported(let message) {
            #expect(!message.isEmpty)
        } catch {
            Issue.record("\(what): \(error)")
        }
    }

    @Test func rejectsBitmaps() async throws {
        await expectRejection(try Self.fixture("tiny.bmp"), "BMP")
    }

    @Test(arguments: [0.3, 0.9, 0.999])
    func rejectsTruncatedImages(part: Double) async throws {
        let whole = try Self.fixture("cover-dracula.jpg")
        await expectRejection(
            Array(whole.prefix(Int(Double(whole.count) * part))), "a truncated JPEG")
    }

    @Test func rejectsDamagedImages() async throws {
        var bytes = try Self.fixture("cover-dracula.jpg")
        for index in 60_000..<62_000 {
            bytes[index] = UInt8(truncatingIfNeeded: index &* 31) & 0x7F
        }
        await expectRejection(bytes, "a damaged JPEG")
    }

    /// A PNG of a few bytes whose header announces 900 megapixels.
    @Test func rejectsTooManyPixelsByTheHeader() async throws {
        var png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]
        png += Array("IHDR".utf8) + [0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30, 1, 0, 0, 0, 0]
        png +=
            [0x4E, 0x5C, 0xC5, 0x17] + [0, 0, 0, 0] + Array("IDAT".utf8) + [0x35, 0xAF, 0x06, 0x1E]
        png += [0, 0, 0, 0] + Array("IEND".utf8) + [0xAE, 0x42, 0x60, 0x82]
        await expectRejection(png, "a huge PNG")
    }

    @Test func drawsTitleCards() async throws {
        let pool = try Self.pool.get()
        var seen: Set<[UInt8]> = []
        for card in [
            TitleCard(title: "Dune", author: "Frank Herbert", genre: "Science Fiction"),
            TitleCard(title: "Dune", author: "Frank Herbert", genre: "Fantasy"),
            TitleCard(title: "<b>&\u{7}", author: nil, genre: nil),
            TitleCard(title: String(repeating: "Longword ", count: 60), author: "A", genre: "B"),
            TitleCard(title: String(repeating: "W", count: 500), author: "A", genre: "B"),
            TitleCard(title: "百年の孤独", author: "ガブリエル", genre: nil),
            TitleCard(title: "📚", author: "👩‍👩‍👧‍👦", genre: "😀"),
            TitleCard(title: "الأيام", author: "טוב", genre: "ไทย"),
            // A long word in many lines, which would be a large picture in a large font.
            TitleCard(
                title: String(repeating: "W", count: 250) + String(repeating: " i", count: 125),
                author: String(repeating: "한", count: 200),
                genre: String(repeating: "W", count: 100)),
            TitleCard(
                title: String(repeating: "W\u{301}\u{302}\u{303}\u{304}", count: 100), author: nil,
                genre: nil),
            // One character of almost a hundred scalars, wider than the card, followed by a word.
            TitleCard(
                title: "Dune", author: nil, genre: String(repeating: "\u{1100}", count: 98) + " a"),
        ] {
            let images = try await pool.titleCard(card)
            #expect(images.full.width == 600 && images.full.height == 900)
            #expect(images.colorStatistics.luminanceDeviation > 0)
            #expect(seen.insert(images.full.bytes).inserted)
        }
    }

    /// scripts/packages installs fonts for all of them.
    @Test func allScriptsHaveFonts() async throws {
        #expect(try await Self.pool.get().missingScripts() == [])
    }

    /// The fonts of the folder are those of fonts-noto-core and fonts-noto-color-emoji.
    @Test func scriptsWithoutAFontAreReported() async throws {
        let folder = "/tmp/bookplate-imager-\(UInt64.random(in: 0...UInt64.max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try "<fontconfig><dir>/usr/share/fonts/truetype/noto</dir></fontconfig>".write(
            toFile: "\(folder)/fonts.conf", atomically: true, encoding: .utf8)
        let program = "\(folder)/imager"
        try """
        #!/bin/sh
        FONTCONFIG_FILE=\(folder)/fonts.conf exec \(ImagerPool.defaultProgram)
        """.write(toFile: program, atomically: true, encoding: .utf8)
        try #require(chmod(program, 0o700) == 0)
        let pool = try ImagerPool(program: program, processCount: 1)
        #expect(try await pool.missingScripts() == [.chinese, .japanese, .korean])
        _ = try await pool.titleCard(TitleCard(title: "百年の孤独", author: nil, genre: nil))
    }

    @Test func missingScriptsAreSent() {
        for scripts in [[], [.thai], TitleCardScript.allCases] as [[TitleCardScript]] {
            let response = ImageResponse.missingScripts(scripts)
            #expect(ImageResponse(payload: response.encoded()) == response)
        }
        #expect(ImageResponse(payload: [3]) == nil)
        let request = ImageRequest(payload: ImageRequest.missingScripts.encoded())
        guard case .missingScripts? = request else {
            Issue.record("\(request as Any)")
            return
        }
    }

    /// A card has the same picture on each server.
    @Test func titleCardIsTheSameEachTime() async throws {
        let card = TitleCard(title: "Emma", author: "Jane Austen", genre: "Classics")
        let pools = [try Self.pool.get(), try ImagerPool(processCount: 1)]
        #expect(try await pools[0].titleCard(card) == pools[1].titleCard(card))
    }

    @Test(.timeLimit(.minutes(1))) func idleProcessIsStoppedAndStartedAgain() async throws {
        let pool = try ImagerPool(processCount: 2, idleTimeout: .milliseconds(50))
        for _ in 0..<2 {
            _ = try await pool.titleCard(TitleCard(title: "Dune", author: nil, genre: nil))
            while pool.runningCount > 0 { try await Task.sleep(for: .milliseconds(5)) }
        }
        let busy = try ImagerPool(processCount: 1)
        #expect(busy.runningCount == 1)
    }

    /// The kernel may kill an idle process when memory is short. The next request must succeed.
    @Test(.timeLimit(.minutes(1))) func killedProcessIsStartedAgain() async throws {
        // A unique program name distinguishes the process from those of other tests.
        let name = "/tmp/bookplate-imager-\(UInt64.random(in: 0...UInt64.max))"
        try #require(symlink(ImagerPool.defaultProgram, name) == 0)
        defer { unlink(name) }
        let pool = try ImagerPool(program: name, processCount: 1)
        let processes = try FileManager.default.contentsOfDirectory(atPath: "/proc")
            .compactMap { Int32($0) }
            .filter {
                (try? String(contentsOfFile: "/proc/\($0)/cmdline", encoding: .utf8)) == name + "\0"
            }
        try #require(processes.count == 1)
        kill(processes[0], SIGKILL)
        // Waits until the process is a zombie or gone.
        while let status = try? String(
            contentsOfFile: "/proc/\(processes[0])/stat", encoding: .utf8), !status.contains(") Z ")
        { try await Task.sleep(for: .milliseconds(5)) }
        _ = try await pool.titleCard(TitleCard(title: "Dune", author: nil, genre: nil))
        #expect(pool.runningCount == 1)
    }

    /// The kernel may also kill a process while it decodes an image. Only an image whose second process ends, too, is refused.
    @Test(arguments: [(1, true), (2, false)])
    func requestOfAKilledProcessIsSentToAnotherOne(killed: Int, isDecoded: Bool) async throws {
        let folder = "/tmp/bookplate-imager-\(UInt64.random(in: 0...UInt64.max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        // The first processes report that they are ready, and end when the request arrives.
        let program = folder + "/imager"
        try Data(
            """
            #!/bin/sh
            echo >> \(folder)/starts
            if [ "$(wc -l < \(folder)/starts)" -le \(killed) ]; then
                \(ImagerPool.defaultProgram) < /dev/null
                head -c 1 > /dev/null
                exit 1
            fi
            exec \(ImagerPool.defaultProgram)
            """.utf8
        ).write(to: URL(filePath: program))
        try #require(chmod(program, 0o700) == 0)
        let pool = try ImagerPool(program: program, processCount: 1)
        let card = TitleCard(title: "Dune", author: nil, genre: nil)
        if isDecoded {
            _ = try await pool.titleCard(card)
        } else {
            await #expect(
                throws: ImageError.unsupported(
                    "The image cannot be read. Send it as a plain JPEG.")
            ) { try await pool.titleCard(card) }
        }
        let starts = try String(contentsOfFile: folder + "/starts", encoding: .utf8)
        #expect(starts == "\n\n")
    }

    /// The end of the image is missing in the temporary file, as after an error of the disk. The image is not to blame.
    @Test func reportsAFileThatCannotBeRead() async throws {
        let pool = try ImagerPool(program: ImagerPool.defaultProgram, processCount: 1)
        let file = try UnnamedFile()
        let error = await #expect(throws: ImageError.self) {
            try await pool.cover(from: .file(file, 0..<100))
        }
        guard case .unreadableFile(let message)? = error else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(message.contains("cannot be used"))
        _ = try await pool.titleCard(TitleCard(title: "Dune", author: nil, genre: nil))
    }

    @Test func reportsAMissingProgram() {
        let error = #expect(throws: ImageError.self) {
            try ImagerPool(program: "/nowhere/bookplate-imager")
        }
        guard case .unavailable(let message)? = error else { return }
        #expect(message.contains("No such file"))
    }

    @Test func rejectsAProgramThatDoesNotReportReady() {
        #expect(throws: ImageError.self) { try ImagerPool(program: "/bin/true") }
    }

    /// The server knows the size and the colors of a title card before it is drawn.
    @Test(arguments: [nil, "Fantasy", "Horror", "Mystery & Crime", "Biography & Memoir"])
    func titleCardHasTheKnownSizeAndColors(genre: String?) async throws {
        let card = try await Self.pool.get().titleCard(
            TitleCard(title: "The Left Hand of Darkness", author: "Ursula K. Le Guin", genre: genre)
        )
        #expect(card.full.width == 600 && card.full.height == 900)
        #expect(card.thumbnail.width == 150 && card.thumbnail.height == 225)
        let palette = TitleCardPalette.of(genre)
        func channels(_ color: String) -> [Int] {
            let hex = Int(color.dropFirst(), radix: 16) ?? -1
            return [hex >> 16 & 255, hex >> 8 & 255, hex & 255]
        }
        // The edges of letters may be counted with the background.
        let differences = zip(channels(card.dominantColor), channels(palette.dominantColor))
            .map { abs($0 - $1) }
        #expect(differences.allSatisfy { $0 <= 2 }, "\(card.dominantColor)")
        #expect(palette.ground == UInt32(palette.dominantColor.dropFirst(), radix: 16))
    }

    /// The specification's alphabet, and the hash of one component: the size flag, no maximum, and the average color.
    @Test func blurHashOfOneColor() {
        #expect(BlurHash.plain(0) == "000000")
        #expect(BlurHash.plain(0xFFFFFF) == "00TSUA")
        #expect(BlurHash.base83(82, digits: 1) == "~")
        #expect(BlurHash.base83(83, digits: 2) == "10")
    }
}
