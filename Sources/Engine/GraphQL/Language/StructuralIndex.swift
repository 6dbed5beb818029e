/// The bytes of a source text with a structural index, in the manner of simdjson.
///
/// Before parsing starts, one pass with SIMD instructions classifies every byte, 64 bytes at a
/// time. The result is two bitmaps with one bit per byte:
///
/// - Name bytes: the byte can be part of a name (`NameContinue` in the grammar).
/// - Token starts: a token can start at the byte.
///
/// The lexer then finds the end of a name and the start of the next token by counting zero bits
/// instead of looping over bytes. That avoids a branch per byte, most of which the processor would
/// mispredict.
///
/// **Rules.** White space, line terminators, and commas are never token starts. A name byte is a
/// token start only if the byte before it is not a name byte. Every other byte is a token start, so
/// comments, strings, and numbers contain token starts that are not tokens. The lexer jumps over
/// them once it knows where the comment or string ends.
///
/// **Blocks.** A name can continue in the next block of 64 bytes. `buildIndex` carries the last name
/// bit of a block over to the next one, so the first byte there is not a token start.
///
/// **Example.** In the bitmaps of `{book(id: "a b")}`, the leftmost column is bit 0:
///
///     text          {book(id: "a b")}
///     name bytes    .1111.11...1.1...
///     token starts  11...11.1.11.1111
///
/// 1. The text starts with the token start 0, the brace. Its bit is cleared, and the lowest bit that
///    is left is the next token start: 1.
/// 2. The byte at 1 is a letter, so the token is a name. Four consecutive name bits start there, so
///    the name ends at 5. The next token start, bit 5, is the parenthesis. The same steps find the
///    name `id` at 6, the colon at 8, and the quotation mark at 10.
/// 3. The token at 10 is a string, which is read byte by byte. It ends after the quotation mark at
///    14. The lexer jumps to 15 and thereby clears the bits 11, 13, and 14, which are inside the
///    string and not tokens.
/// 4. Two tokens are left, at 15 and 16. The zero after the text is also a token start and ends the
///    document.
///
/// **Memory safety.** Reads are not bounds-checked in release builds. They are safe because of this
/// invariant: the bytes are padded with at least one zero, up to a multiple of 64, and every zero
/// is a token start. A reader only moves past bytes that are not zero or that lie before `count`,
/// so it stops at `count` at the latest. The zero there is not part of any token. Reading eight
/// bytes from that offset stays inside the allocation. Debug builds check every read with `assert`.
struct IndexedText: ~Copyable {
    /// The source, from which string values and error messages are made.
    private(set) var source: Source
    let count: Int
    let bytes: IndexedBytes

    /// Copies a source and builds its index.
    ///
    /// - Parameter scratchSize: the size in bytes of additional memory at `bytes.scratch`, which
    ///   lives as long as this value.
    init(_ source: consuming Source, scratchSize: Int) {
        count = source.bytes.count
        bytes = IndexedBytes(copying: source.bytes.span, scratchSize: scratchSize)
        self.source = source
    }

    /// Returns the source when parsing is done, and leaves an empty one.
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

/// An unowned view of the memory of an `IndexedText`, which must outlive it. The compiler can keep
/// this value in registers.
struct IndexedBytes {
    /// The bytes of the text, padded with zeros to blocks of 64.
    private let memory: UnsafeMutableRawPointer
    /// The bitmaps, which follow the bytes in the same allocation: 64 name bits per block, one word
    /// of zeros, and 64 token-start bits per block.
    private let nameBitmaps: UnsafeMutableRawPointer

    fileprivate init(copying source: Span<UInt8>, scratchSize: Int) {
        let blocksCount = source.count / 64 + 1
        memory = .allocate(byteCount: 80 * blocksCount + 8 + scratchSize, alignment: 8)
        let bytes = UnsafeMutableRawBufferPointer(start: memory, count: 64 * blocksCount)
        source.withUnsafeBufferPointer { bytes.copyBytes(from: $0) }
        for index in source.count..<bytes.count { bytes[index] = 0 }
        nameBitmaps = memory + 64 * blocksCount
        buildIndex()
    }

    fileprivate func deallocate() { memory.deallocate() }

    private var blocksCount: Int { (nameBitmaps - memory) >> 6 }

    /// The additional memory that was requested, after the bitmaps.
    var scratch: UnsafeMutableRawPointer { nameBitmaps + 16 * blocksCount + 8 }

    @inline(always)
    subscript(position: Int) -> UInt8 {
        assert(position >= 0 && position < 64 * blocksCount, "offset out of bounds")
        return memory.load(fromByteOffset: position, as: UInt8.self)
    }

    /// Returns the eight bytes that start at `position`. The first one is the least significant.
    @inline(always)
    func word(at position: Int) -> Word {
        assert(position >= 0 && position < 64 * blocksCount, "offset out of bounds")
        return Word(bits: Self.bits(memory, at: position))
    }

    /// Returns the number of consecutive name bytes that start at `position`. The result is exact
    /// below 57. A result of 57 or more is a lower bound, because only 57 to 64 bits are inspected.
    @inline(always)
    func nameLength(at position: Int) -> Int {
        assert(position >= 0 && position < 64 * blocksCount, "offset out of bounds")
        let bytes =
            Self.bits(nameBitmaps, at: position >> 3) &>> UInt64(truncatingIfNeeded: position & 7)
        return (~bytes).trailingZeroBitCount
    }

    /// Returns the token-start bits of a block. The least significant bit belongs to the first of
    /// its 64 bytes.
    @inline(always)
    func tokenStarts(inBlock block: Int) -> UInt64 {
        precondition(block < blocksCount, "block out of bounds")
        return Self.bits(nameBitmaps, at: 8 &* (blocksCount &+ 1 &+ block))
    }

    @inline(always)
    private static func bits(_ memory: UnsafeMutableRawPointer, at offset: Int) -> UInt64 {
        UInt64(littleEndian: memory.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    private func buildIndex() {
        let startBitmaps = nameBitmaps + 8 * blocksCount + 8
        // The name bit of the byte before the block: 1 or 0.
        var nameCarry: UInt64 = 0
        for block in 0..<blocksCount {
            let (inName, ignored) = (memory + 64 &* block).classifyBlock()
            // A name starts at its first byte. Any other byte that is not ignored is a token start.
            let startBits = ~ignored & ~(inName & (inName << 1 | nameCarry))
            nameCarry = inName >> 63
            nameBitmaps.storeBytes(
                of: inName.littleEndian, toByteOffset: 8 &* block, as: UInt64.self)
            startBitmaps.storeBytes(
                of: startBits.littleEndian, toByteOffset: 8 &* block, as: UInt64.self)
        }
        nameBitmaps.storeBytes(of: 0, toByteOffset: 8 * blocksCount, as: UInt64.self)
    }
}

extension UnsafeMutableRawPointer {
    /// Classifies the 64 bytes at this pointer. Returns one bit per byte, the first byte in the
    /// least significant bit: whether it can continue a name, and whether it is ignored.
    @inline(always)
    fileprivate func classifyBlock() -> (inName: UInt64, ignored: UInt64) {
        // Byte i of `bits` collects the classes of the bytes i, 16 + i, 32 + i, and 48 + i of the
        // block: the name bit of quarter q in bit q, the ignored bit in bit 4 + q.
        var bits = SIMD16<UInt8>.zero
        for quarter in 0..<4 {
            let bytes = loadUnaligned(fromByteOffset: 16 &* quarter, as: SIMD16<UInt8>.self)
            bits |= bytes.continuesName & SIMD16<UInt8>(repeating: 0x01 << UInt8(quarter))
            bits |= bytes.isIgnored & SIMD16<UInt8>(repeating: 0x10 << UInt8(quarter))
        }
        // Transpose each half as an 8 × 8 bit matrix. Byte q of the result holds the name bits of
        // eight bytes in quarter q, and byte 4 + q their ignored bits. Interleaving the two halves
        // puts the bits in the order of the text.
        let halves = unsafeBitCast(
            unsafeBitCast(bits, to: SIMD2<UInt64>.self).transposedBits, to: SIMD16<UInt8>.self)
        var zipped = SIMD16<UInt8>.zero
        zipped.evenHalf = halves.lowHalf
        zipped.oddHalf = halves.highHalf
        let bitmaps = unsafeBitCast(zipped, to: SIMD2<UInt64>.self)
        return (bitmaps[0], bitmaps[1])
    }
}

extension SIMD2<UInt64> {
    /// Transposes each of the two numbers as an 8 × 8 bit matrix: bit j of byte i becomes bit i of
    /// byte j.
    @inline(always)
    fileprivate var transposedBits: Self {
        swappingBits(atDistance: 7, 0x00AA_00AA_00AA_00AA).swappingBits(
            atDistance: 14, 0x0000_CCCC_0000_CCCC
        )
        .swappingBits(atDistance: 28, 0x0000_0000_F0F0_F0F0)
    }

    /// Swaps the bits selected by `mask` with the bits that are `distance` positions higher.
    @inline(always)
    private func swappingBits(atDistance distance: UInt64, _ mask: UInt64) -> Self {
        let distance = Self(repeating: distance)
        let changed = (self ^ (self &>> distance)) & Self(repeating: mask)
        return self ^ changed ^ (changed &<< distance)
    }
}

extension SIMD16<UInt8> {
    /// Sets all bits of each byte that is one of the `count` values from `first` on, and clears all
    /// bits of the others.
    @inline(always)
    private func isInRange(of count: Int8, from first: UInt8) -> Self {
        // The SIMD comparison of bytes is signed, so shift the range to start at the smallest signed
        // value.
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
        (self | Self(repeating: 0x20)).isInRange(of: 26, from: UInt8(ascii: "a"))
            | isInRange(of: 10, from: UInt8(ascii: "0")) | equals("_")
    }

    /// WhiteSpace, LineTerminator, and Comma. Comments and byte order marks are ignored too, but
    /// their first byte counts as a token start: see `Lexer.skipIgnored`.
    @inline(always)
    fileprivate var isIgnored: Self {
        equals(" ") | equals("\n") | equals(",") | equals("\r") | equals("\t")
    }
}
