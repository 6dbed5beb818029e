import CCrypto

/// SHA-256 of `bytes`: 32 bytes.
package func sha256(_ bytes: some Collection<UInt8>) -> [UInt8] {
    let input = Array(bytes)
    var digest = [UInt8](repeating: 0, count: 32)
    // One-shot and for memory only: the sole failure is a library without SHA-256.
    let done = EVP_Digest(input, input.count, &digest, nil, EVP_sha256(), nil)
    precondition(done == 1, "libcrypto has no SHA-256")
    return digest
}

/// MD5 of `bytes`, 16 bytes, by which known files are told; it protects nothing. nil where libcrypto has none, as under FIPS.
package func md5(_ bytes: some Collection<UInt8>) -> [UInt8]? {
    let input = Array(bytes)
    var digest = [UInt8](repeating: 0, count: 16)
    return EVP_Digest(input, input.count, &digest, nil, EVP_md5(), nil) == 1 ? digest : nil
}

/// HMAC-SHA-256 of `bytes`: 32 bytes.
package func hmacSHA256(key: [UInt8], _ bytes: some Collection<UInt8>) -> [UInt8] {
    precondition(key.count <= Int32.max, "keys are short")
    let input = Array(bytes)
    var digest = [UInt8](repeating: 0, count: 32)
    var count: UInt32 = 0
    let done = HMAC(
        EVP_sha256(), key, Int32(key.count), input, input.count, &digest, &count)
    precondition(done != nil && count == 32, "libcrypto has no HMAC")
    return digest
}

/// Whether two byte strings are equal, in a time that depends on their lengths only.
package func constantTimeEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
}

/// Two lower-case digits for each byte.
package func lowercaseHex(_ bytes: some Collection<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes {
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
}
