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
    private(set) var source: Source
    let count: Int
    let bytes: MarkedBytes

    /// - Parameter room: so many bytes more, at `bytes.room`, for what is needed as long as the text.
    init(_ source: consuming Source, room: Int) {
        count = source.bytes.count
        bytes = MarkedBytes(copying: source.bytes.span, room: room)
        self.source = source
    }

    /// The source, for who reads no further.
    mutating func takeSource() -> Source {
        var taken = Source([])
        swap(&taken, &source)
        return taken
    }

    deinit { bytes.deallocate() }

    @inline(always)
    subscript(position: Int) -> UInt8 { bytes[position] }

    func failure(at offset: Int, _ message: String) -> SyntaxFailure {
        SyntaxFailure(source.syntaxError(at: offset, message))
    }
}

/// The memory of a `MarkedText`, for as long as that lives: a value that the compiler can keep in registers.
struct MarkedBytes {
    /// The bytes, in blocks of 64.
    private let memory: UnsafeMutableRawPointer
    /// Behind them in the same memory: for each block 64 bits that tell of names, a word of zeros, and 64 bits for starts.
    private let names: UnsafeMutableRawPointer

    fileprivate init(copying source: Span<UInt8>, room: Int) {
        let blocksCount = source.count / 64 + 1
        memory = .allocate(byteCount: 80 * blocksCount + 8 + room, alignment: 8)
        let bytes = UnsafeMutableRawBufferPointer(start: memory, count: 64 * blocksCount)
        source.withUnsafeBufferPointer { bytes.copyBytes(from: $0) }
        for index in source.count..<bytes.count { bytes[index] = 0 }
        names = memory + 64 * blocksCount
        mark()
    }

    fileprivate func deallocate() { memory.deallocate() }

    private var blocksCount: Int { (names - memory) >> 6 }

    /// What was asked for besides, behind the marks.
    var room: UnsafeMutableRawPointer { names + 16 * blocksCount + 8 }

    @inline(always)
    subscript(position: Int) -> UInt8 {
        assert(position >= 0 && position < 64 * blocksCount, "outside of the text")
        return memory.load(fromByteOffset: position, as: UInt8.self)
    }

    /// Eight bytes from `position` on, the first of them the lowest.
    @inline(always)
    func word(at position: Int) -> Word {
        assert(position >= 0 && position < 64 * blocksCount, "outside of the text")
        return Word(bits: Self.bits(memory, at: position))
    }

    /// How many bytes from `position` on can continue a name; from 56 on there may be more than it says.
    @inline(always)
    func nameLength(at position: Int) -> Int {
        assert(position >= 0 && position < 64 * blocksCount, "outside of the text")
        let bytes = Self.bits(names, at: position >> 3) &>> UInt64(truncatingIfNeeded: position & 7)
        return (~bytes).trailingZeroBitCount
    }

    /// A bit for each of 64 bytes, the first of them the lowest: whether a token may start there.
    @inline(always)
    func starts(_ block: Int) -> UInt64 {
        precondition(block < blocksCount, "behind the end of the text")
        return Self.bits(names, at: 8 &* (blocksCount &+ 1 &+ block))
    }

    @inline(always)
    private static func bits(_ memory: UnsafeMutableRawPointer, at offset: Int) -> UInt64 {
        UInt64(littleEndian: memory.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    private func mark() {
        let starts = names + 8 * blocksCount + 8
        // Whether the byte before the block can continue a name.
        var isInName: UInt64 = 0
        for block in 0..<blocksCount {
            let (inName, ignored) = (memory + 64 &* block).marksOfBlock()
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

extension UnsafeMutableRawPointer {
    /// Of 64 bytes, the first of them the lowest, which can continue a name, and which are ignored.
    @inline(always)
    fileprivate func marksOfBlock() -> (inName: UInt64, ignored: UInt64) {
        // Each bit of a byte is one mark of a quarter of the block, for the byte that has this place in the quarter.
        var bits = SIMD16<UInt8>.zero
        for quarter in 0..<4 {
            let bytes = loadUnaligned(fromByteOffset: 16 &* quarter, as: SIMD16<UInt8>.self)
            bits |= bytes.continuesName & SIMD16<UInt8>(repeating: 0x01 << UInt8(quarter))
            bits |= bytes.isIgnored & SIMD16<UInt8>(repeating: 0x10 << UInt8(quarter))
        }
        // Of eight bytes, that makes the first of bits the first byte, and so on; then both halves take turns.
        let halves = unsafeBitCast(
            unsafeBitCast(bits, to: SIMD2<UInt64>.self).transposedBits, to: SIMD16<UInt8>.self)
        var zipped = SIMD16<UInt8>.zero
        zipped.evenHalf = halves.lowHalf
        zipped.oddHalf = halves.highHalf
        let marks = unsafeBitCast(zipped, to: SIMD2<UInt64>.self)
        return (marks[0], marks[1])
    }
}

extension SIMD2<UInt64> {
    /// Each number as eight bytes of eight bits: the bit that was at (i, j) is at (j, i).
    @inline(always)
    fileprivate var transposedBits: Self {
        exchanged(by: 7, 0x00AA_00AA_00AA_00AA).exchanged(by: 14, 0x0000_CCCC_0000_CCCC)
            .exchanged(by: 28, 0x0000_0000_F0F0_F0F0)
    }

    /// Exchanges the bits of `mask` with those that are `distance` higher.
    @inline(always)
    private func exchanged(by distance: UInt64, _ mask: UInt64) -> Self {
        let distance = Self(repeating: distance)
        let changed = (self ^ (self &>> distance)) & Self(repeating: mask)
        return self ^ changed ^ (changed &<< distance)
    }
}

extension SIMD16<UInt8> {
    /// All bits of a byte, where it is one of `count` that follow each other.
    @inline(always)
    private func isOf(_ count: Int8, from first: UInt8) -> Self {
        // The processor only compares numbers with a sign.
        let shifted = unsafeBitCast(self &- Self(repeating: first ^ 0x80), to: SIMD16<Int8>.self)
        return unsafeBitCast(shifted .< SIMD16<Int8>(repeating: .min + count), to: Self.self)
    }

    @inline(always)
    private func equals(_ byte: Unicode.Scalar) -> Self {
        unsafeBitCast(self .== Self(repeating: UInt8(ascii: byte)), to: Self.self)
    }

    /// NameContinue :: Letter | Digit | `_`
    @inline(always)
    fileprivate var continuesName: Self {
        (self | Self(repeating: 0x20)).isOf(26, from: UInt8(ascii: "a"))
            | isOf(10, from: UInt8(ascii: "0")) | equals("_")
    }

    /// WhiteSpace, LineTerminator and Comma. What else is ignored begins with a mark.
    @inline(always)
    fileprivate var isIgnored: Self {
        equals(" ") | equals("\n") | equals(",") | equals("\r") | equals("\t")
    }
}
