/// Eight bytes, the first of them the lowest.
struct Word: Equatable {
    let bits: UInt64

    @inline(always)
    init(bits: UInt64) { self.bits = bits }

    /// Bytes of a word of the grammar, eight from `start` on or what there is of them.
    @inline(always)
    init(_ word: StaticString, from start: Int = 0) {
        var bits: UInt64 = 0
        for index in 0..<8 where start + index < word.utf8CodeUnitCount {
            bits |= UInt64(word.utf8Start[start + index]) << UInt64(8 * index)
        }
        self.bits = bits
    }

    /// The first `count` bytes, 1 to 8, and zeros behind them.
    @inline(always)
    func prefix(_ count: Int) -> Word {
        Word(bits: bits & (~0 >> (UInt64(truncatingIfNeeded: -8 &* count) & 63)))
    }
}
