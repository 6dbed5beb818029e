import Gzip
import Testing

@Suite struct GunzipTests {
    /// The output of `printf 'hello hello hello\n' | gzip -9`.
    static let hello: [UInt8] = [
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9,
        0x57, 0xC8, 0x40, 0x90, 0x5C, 0x00, 0x3B, 0x7C, 0x8A, 0xDF, 0x12, 0x00, 0x00, 0x00,
    ]
    static let text = Array("hello hello hello\n".utf8)

    @Test func decompressesAllMembers() throws {
        #expect(isGzip(Self.hello))
        #expect(!isGzip(Self.text))
        #expect(try gunzip(Self.hello, bytesMax: 100) == Self.text)
        #expect(try gunzip(Self.hello + Self.hello, bytesMax: 100) == Self.text + Self.text)
        #expect(try gunzip(Self.hello + [0, 0, 0], bytesMax: 100) == Self.text)
    }

    @Test func stopsAtTheLimit() {
        #expect(throws: GzipError.tooLarge) { try gunzip(Self.hello, bytesMax: 17) }
    }

    @Test func detectsDamage() {
        for count in 0..<Self.hello.count {
            #expect(throws: GzipError.damaged) {
                try gunzip(Array(Self.hello.prefix(count)), bytesMax: 100)
            }
        }
        var wrong = Self.hello
        wrong[wrong.count - 6] ^= 1
        #expect(throws: GzipError.damaged) { try gunzip(wrong, bytesMax: 100) }
        #expect(throws: GzipError.damaged) { try gunzip(Self.hello + [1], bytesMax: 100) }
        #expect(throws: GzipError.damaged) { try gunzip(Self.text, bytesMax: 100) }
    }
}
