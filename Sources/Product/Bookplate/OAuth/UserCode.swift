import Identity

/// The code that a reader enters in the app of the tenant: eight letters without vowels, so that it forms no words, and without
/// letters that look alike. A hyphen in the middle makes it easier to read.
///
/// Spec: RFC 8628, section 6.1
struct UserCode: Equatable {
    static let count = 8
    private static let alphabet = Array("BCDFGHJKLMNPQRSTVWXZ".utf8)

    /// The letters without the hyphen.
    let letters: String

    static func random() -> UserCode {
        // Bytes from here on would make some letters more frequent than others.
        let byteMax = UInt8(256 / alphabet.count * alphabet.count)
        var letters: [UInt8] = []
        while letters.count < count {
            letters += randomBytes(count).filter { $0 < byteMax }
                .map { alphabet[Int($0) % alphabet.count] }
        }
        return UserCode(valid: letters.prefix(count))
    }

    private init(valid letters: some Collection<UInt8>) {
        self.letters = String(decoding: letters, as: UTF8.self)
    }

    /// Reads a code as a reader may write it: in any case, and with spaces and hyphens.
    init?(_ text: String) {
        guard text.utf8.count <= 50 else { return nil }
        let letters = text.uppercased().utf8.filter {
            $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: " ")
        }
        guard letters.count == Self.count, letters.allSatisfy(Self.alphabet.contains) else {
            return nil
        }
        self.init(valid: letters)
    }

    var text: String { "\(letters.prefix(4))-\(letters.suffix(4))" }
}
