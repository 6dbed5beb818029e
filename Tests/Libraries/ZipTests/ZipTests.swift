import Glibc
import Testing

@testable import Zip

@Suite struct ZipTests {
    /// Returns the bytes of an archive with these files.
    private func zip(_ files: [(name: String, content: [UInt8])]) throws -> [UInt8] {
        var template = Array("/tmp/bookplate-zip-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        #expect(descriptor >= 0)
        unlink(template)
        defer { close(descriptor) }
        let writer = try ZipWriter(descriptor: descriptor, time: 1_700_000_000)
        for (name, content) in files {
            try writer.begin(name, compresses: name.hasSuffix(".json"))
            for start in stride(from: 0, to: content.count, by: 1000) {
                try writer.write(Array(content[start..<min(start + 1000, content.count)]))
            }
        }
        try writer.finish()
        var bytes = [UInt8](repeating: 0, count: Int(lseek(descriptor, 0, SEEK_END)))
        #expect(pread(descriptor, &bytes, bytes.count, 0) == bytes.count)
        return bytes
    }

    private func read(
        _ bytes: [UInt8], limits: ZipReader.Limits = .init(), bytesMax: Int = 1 << 20
    ) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        try ZipReader.read(
            bytes, limits: limits, bytesMax: { $0.contains("skip") ? nil : bytesMax }
        ) { files[$0] = $1 }
        return files
    }

    private static let files: [(name: String, content: [UInt8])] = [
        ("library.json", Array(repeating: 65, count: 50_000)), ("covers/a.jpg", [1, 2, 3]),
        ("empty.json", []), ("skip.me", [9]),
    ]

    @Test func extractsTheSelectedFiles() throws {
        let bytes = try zip(Self.files)
        #expect(ZipReader.isZip(bytes))
        #expect(bytes.count < 5000, "text is compressed")
        let found = try read(bytes)
        #expect(found.keys.sorted() == ["covers/a.jpg", "empty.json", "library.json"])
        #expect(found["library.json"] == Self.files[0].content)
        #expect(found["covers/a.jpg"] == [1, 2, 3])
    }

    /// The limits apply to the extracted bytes, whatever sizes the archive announces.
    @Test func rejectsArchivesAboveTheLimits() throws {
        let bytes = try zip(Self.files)
        #expect(throws: ZipError.tooLarge) { try read(bytes, bytesMax: 49_999) }
        var limits = ZipReader.Limits()
        limits.bytesMax = 50_001
        #expect(throws: ZipError.tooLarge) { try read(bytes, limits: limits) }
        limits = ZipReader.Limits()
        limits.filesMax = 3
        #expect(throws: ZipError.tooLarge) { try read(bytes, limits: limits) }
    }

    @Test func truncatedArchivesYieldOnlyCorrectContents() throws {
        let bytes = try zip(Self.files)
        for length in stride(from: 0, to: bytes.count - 1, by: 37) {
            // The files that can be read have their original contents.
            for (name, content) in (try? read(Array(bytes[..<length]))) ?? [:] {
                #expect(content == Self.files.first { $0.name == name }?.content)
            }
        }
        #expect(throws: ZipError.self) { try read(Array("not a zip".utf8)) }
    }

    /// The contents have checksums. Names do not, so a file may have another name.
    @Test(arguments: UInt64(1)...4)
    func damagedArchivesYieldOnlyCorrectContents(seed: UInt64) throws {
        let bytes = try zip(Self.files)
        let contents = Set(Self.files.map(\.content))
        var random = SplitMix(state: seed)
        for _ in 0..<50 {
            var damaged = bytes
            let offset = Int.random(in: 0..<damaged.count, using: &random)
            damaged[offset] ^= 0xFF
            for (name, content) in (try? read(damaged)) ?? [:] {
                #expect(contents.contains(content), "\(name), offset \(offset)")
            }
        }
    }
}

/// The SplitMix64 generator, which yields the same numbers for the same seed.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}
