/// Eight bytes in one integer. The first byte is the least significant one.
struct Word: Equatable {
    let bits: UInt64

    @inline(always)
    init(bits: UInt64) { self.bits = bits }

    /// Creates a word from up to eight bytes of a keyword, starting at `start`. Missing bytes are
    /// zero.
    @inline(always)
    init(_ word: StaticString, from start: Int = 0) {
        var bits: UInt64 = 0
        for index in 0..<8 where start + index < word.utf8CodeUnitCount {
            bits |= UInt64(word.utf8Start[start + index]) << UInt64(8 * index)
        }
        self.bits = bits
    }

    /// Returns the word with all bytes after the first `count` (1 to 8) set to zero.
    @inline(always)
    func prefix(_ count: Int) -> Word {
        Word(bits: bits & (~0 >> (UInt64(truncatingIfNeeded: -8 &* count) & 63)))
    }
}
