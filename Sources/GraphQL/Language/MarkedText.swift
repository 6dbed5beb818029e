/// The bytes of a source, with two marks for each: whether it can continue a name, and whether a token may start there.
///
/// The marks are bits, found for sixteen bytes at once before anything is read. So where a token ends and the next one
/// starts is known without going there byte by byte, which the processor would have to guess or to wait for.
///
/// What keeps the memory safe: the bytes are followed by zeros up to the next 64, one at least, and each zero is marked as a
/// start. A reader goes over bytes that are not zero, or are before `count`, so it comes to `count` and no further. There
/// it finds a zero, which is no part of any token; and the eight bytes from there are memory of this text. Builds for
/// tests check every read.
struct MarkedText: ~Copyable {
    /// The same text, to make values and errors of.
    let source: Source
    let count: Int
    /// The bytes, in blocks of 64.
    private let memory: UnsafeMutableRawPointer
    /// Behind them in the same memory: for each block 64 bits that tell of names, a word of zeros, and 64 bits for starts.
    private let names: UnsafeMutableRawPointer

    private var blocksCount: Int { count >> 6 &+ 1 }

    init(_ source: Source) {
        self.source = source
        count = source.bytes.count
        let blocksCount = count / 64 + 1
        memory = .allocate(byteCount: 64 * blocksCount + 16 * blocksCount + 8, alignment: 16)
        let bytes = UnsafeMutableRawBufferPointer(start: memory, count: 64 * blocksCount)
        bytes.copyBytes(from: source.bytes)
        for index in count..<bytes.count { bytes[index] = 0 }
        names = memory + 64 * blocksCount
        mark()
    }

    deinit { memory.deallocate() }

    @inline(__always)
    subscript(position: Int) -> UInt8 {
        assert(position >= 0 && position < 64 * blocksCount, "outside of the text")
        return memory.load(fromByteOffset: position, as: UInt8.self)
    }

    /// Eight bytes from `position` on, the first of them the lowest.
    @inline(__always)
    func word(at position: Int) -> Word {
        assert(position >= 0 && position < 64 * blocksCount, "outside of the text")
        return Word(bits: Self.bits(memory, at: position))
    }

    /// How many bytes from `position` on can continue a name; from 56 on there may be more than it says.
    @inline(__always)
    func nameLength(at position: Int) -> Int {
        assert(position >= 0 && position < 64 * blocksCount, "outside of the text")
        let bytes = Self.bits(names, at: position >> 3) &>> UInt64(truncatingIfNeeded: position & 7)
        return (~bytes).trailingZeroBitCount
    }

    /// A bit for each of 64 bytes, the first of them the lowest: whether a token may start there.
    @inline(__always)
    func starts(_ block: Int) -> UInt64 {
        precondition(block < blocksCount, "behind the end of the text")
        return Self.bits(names, at: 8 &* (blocksCount &+ 1 &+ block))
    }

    @inline(__always)
    private static func bits(_ memory: UnsafeMutableRawPointer, at offset: Int) -> UInt64 {
        UInt64(littleEndian: memory.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    func failure(at offset: Int, _ message: String) -> SyntaxFailure {
        SyntaxFailure(source.syntaxError(at: offset, message))
    }

    private func mark() {
        let starts = names + 8 * blocksCount + 8
        // Whether the byte before the block can continue a name.
        var isInName: UInt64 = 0
        for block in 0..<blocksCount {
            var inName: UInt64 = 0
            var ignored: UInt64 = 0
            for quarter in 0..<4 {
                let bytes = memory.loadUnaligned(
                    fromByteOffset: 64 &* block &+ 16 &* quarter, as: SIMD16<UInt8>.self)
                let shift = UInt64(truncatingIfNeeded: 16 &* quarter)
                inName |= bytes.continuesName.bits << shift
                ignored |= bytes.isIgnored.bits << shift
            }
            // A name starts at its first byte, everything else may start at each.
            let startBits = ~ignored & ~(inName & (inName << 1 | isInName))
            isInName = inName >> 63
            names.storeBytes(
                of: inName.littleEndian, toByteOffset: 8 &* block, as: UInt64.self)
            starts.storeBytes(
                of: startBits.littleEndian, toByteOffset: 8 &* block, as: UInt64.self)
        }
        names.storeBytes(of: 0, toByteOffset: 8 * blocksCount, as: UInt64.self)
    }
}

extension SIMD16<UInt8> {
    /// NameContinue :: Letter | Digit | `_`
    @inline(__always)
    fileprivate var continuesName: SIMDMask<SIMD16<Int8>> {
        let letters = (self | Self(repeating: 0x20)) &- Self(repeating: UInt8(ascii: "a"))
        let digits = self &- Self(repeating: UInt8(ascii: "0"))
        return letters .< Self(repeating: 26) .| digits .< Self(repeating: 10)
            .| self .== Self(repeating: UInt8(ascii: "_"))
    }

    /// WhiteSpace, LineTerminator and Comma. What else is ignored begins with a mark.
    @inline(__always)
    fileprivate var isIgnored: SIMDMask<SIMD16<Int8>> {
        self .== Self(repeating: UInt8(ascii: " ")) .| self .== Self(repeating: UInt8(ascii: "\n"))
            .| self .== Self(repeating: UInt8(ascii: ",")) .| self
            .== Self(repeating: UInt8(ascii: "\r"))
            .| self .== Self(repeating: UInt8(ascii: "\t"))
    }
}

extension SIMDMask<SIMD16<Int8>> {
    /// The mask as the lowest sixteen bits of a number, the first of its lanes the lowest.
    @inline(__always)
    fileprivate var bits: UInt64 {
        let weights = SIMD16<UInt8>(1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128)
        // A lane of a mask is all ones or all zeros, so each has its own bit of one byte: multiplying adds them up there.
        let lanes = unsafeBitCast(self, to: SIMD16<UInt8>.self) & weights
        let halves = unsafeBitCast(lanes, to: SIMD2<UInt64>.self)
        let ones: UInt64 = 0x0101_0101_0101_0101
        return (halves[0] &* ones) >> 56 | ((halves[1] &* ones) >> 56) << 8
    }
}
