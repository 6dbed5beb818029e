/// A name where it stands in the text.
struct NameToken {
    let key: NameKey
    let start: Int
    let end: Int

    var length: Int { end &- start }

    /// Whether it is that word of the grammar, of up to sixteen bytes.
    @inline(always)
    func isKeyword(_ word: StaticString) -> Bool { key == NameKey(word) }
}

/// The bytes of a name, of up to sixteen; of a longer one the first eight, and a hash of the others.
struct NameKey: Equatable {
    var low: UInt64
    var high: UInt64 = 0

    @inline(always)
    init(_ first: Word, _ second: Word = Word(bits: 0)) {
        low = first.bits
        high = second.bits
    }

    @inline(always)
    init(_ keyword: StaticString) {
        self.init(Word(keyword), Word(keyword, from: 8))
    }

    /// Takes eight bytes more into the hash. Its highest bit is set, as it is in no byte of a name.
    mutating func hash(_ word: Word) {
        let product = (high ^ word.bits).multipliedFullWidth(by: NameTable.multiplier)
        high = (product.high ^ product.low) | 1 << 63
    }

    var isHash: Bool { high >> 63 != 0 }

    /// The key under which a table has it: of a long name another one, which it is not found by before all of it was
    /// compared. Twice, it is the key again.
    var inTable: NameKey {
        var key = self
        if isHash { key.low ^= 1 << 63 }
        return key
    }
}

extension MarkedBytes {
    /// The token at `start` where it is a name.
    ///
    /// Name :: NameStart NameContinue* [lookahead != NameContinue]
    ///
    /// Spec: https://spec.graphql.org/September2025/#Name
    @inline(always)
    func name(at start: Int) -> NameToken? {
        let length = nameLength(at: start)
        guard _fastPath(length > 0 && self[start] > UInt8(ascii: "9")) else { return nil }
        let low = word(at: start)
        if length <= 8 {
            return NameToken(key: NameKey(low.prefix(length)), start: start, end: start &+ length)
        }
        guard _fastPath(length <= 16) else { return longName(at: start) }
        let high = word(at: start &+ 8)
        return NameToken(
            key: NameKey(low, high.prefix(length &- 8)), start: start, end: start &+ length)
    }

    /// The same for a name of more than sixteen bytes.
    @inline(never)
    private func longName(at start: Int) -> NameToken {
        // Each word but the first is behind the multiplier before another joins it, or the two could cancel out.
        var key = NameKey(word(at: start))
        key.hash(word(at: start + 8))
        var end = start + 16
        while true {
            let length = min(nameLength(at: end), 8)
            if length == 0 { return NameToken(key: key, start: start, end: end) }
            key.hash(word(at: end).prefix(length))
            end += length
        }
    }
}
