/// A name token: its key and its byte range in the text.
struct NameToken {
    let key: NameKey
    let start: Int
    let end: Int

    var length: Int { end &- start }

    /// Whether the name equals a keyword of at most 16 bytes.
    @inline(always)
    func isKeyword(_ word: StaticString) -> Bool { key == NameKey(word) }
}

/// The key of a name in the symbol table.
///
/// The key of a name with at most 16 bytes is the name itself, padded with zeros. The key of a
/// longer name consists of its first eight bytes and a hash of the rest.
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

    /// Adds eight bytes to the hash. Sets the highest bit, which is never set in the bytes of a
    /// name, to mark the key as a hash.
    mutating func hash(_ word: Word) {
        let product = (high ^ word.bits).multipliedFullWidth(by: SymbolTable.multiplier)
        high = (product.high ^ product.low) | 1 << 63
    }

    var isHash: Bool { high >> 63 != 0 }

    /// The key that the symbol table stores.
    ///
    /// A short name is stored under its own key. The stored key of a long name differs from its
    /// lookup key in one bit, so the fast path never matches and the whole name is compared.
    /// Applying the function twice restores the key.
    var tableKey: NameKey {
        var key = self
        if isHash { key.low ^= 1 << 63 }
        return key
    }
}

extension IndexedBytes {
    /// Returns the name token at `start`, or nil if there is no name.
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

    /// Returns the token of a name of more than 16 bytes.
    @inline(never)
    private func longName(at start: Int) -> NameToken {
        // Multiply after each word. XORing two words without a multiplication between them would
        // let equal words cancel each other out.
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
