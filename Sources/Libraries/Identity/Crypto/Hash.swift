import CCrypto

/// Returns the SHA-256 of the bytes, 32 bytes.
package func sha256(_ bytes: some Collection<UInt8>) -> [UInt8] {
    let input = Array(bytes)
    var digest = [UInt8](repeating: 0, count: 32)
    // A one-shot digest in memory fails only if libcrypto was built without SHA-256.
    let done = EVP_Digest(input, input.count, &digest, nil, EVP_sha256(), nil)
    precondition(done == 1, "libcrypto does not support SHA-256")
    return digest
}

/// Returns the MD5 of the bytes, 16 bytes; nil if libcrypto does not provide MD5, as in FIPS mode.
///
/// Use it only to recognize known files. It offers no security.
package func md5(_ bytes: some Collection<UInt8>) -> [UInt8]? {
    let input = Array(bytes)
    var digest = [UInt8](repeating: 0, count: 16)
    return EVP_Digest(input, input.count, &digest, nil, EVP_md5(), nil) == 1 ? digest : nil
}

/// Returns the HMAC-SHA-256 of the bytes, 32 bytes.
package func hmacSHA256(key: [UInt8], _ bytes: some Collection<UInt8>) -> [UInt8] {
    precondition(key.count <= Int32.max, "an HMAC key must be shorter than 2^31 bytes")
    let input = Array(bytes)
    var digest = [UInt8](repeating: 0, count: 32)
    var count: UInt32 = 0
    let done = HMAC(
        EVP_sha256(), key, Int32(key.count), input, input.count, &digest, &count)
    precondition(done != nil && count == 32, "libcrypto does not support HMAC-SHA-256")
    return digest
}

/// Compares two byte strings in a time that depends only on their lengths.
package func constantTimeEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
}

/// Returns the bytes in hexadecimal, two lower-case digits per byte.
package func lowercaseHex(_ bytes: some Collection<UInt8>) -> String {
    func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
    }
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes {
        text.append(digit(byte >> 4))
        text.append(digit(byte & 15))
    }
    return String(decoding: text, as: UTF8.self)
}
