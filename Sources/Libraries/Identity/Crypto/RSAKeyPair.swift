import CCrypto

/// A generated RSA key pair, for development and tests.
struct RSAKeyPair: Sendable {
    let privatePEM: [UInt8]
    /// The modulus in big-endian order without leading zeros.
    let modulus: [UInt8]
    let exponent: [UInt8]

    /// Generates a key pair, which takes tens of milliseconds; nil if libcrypto fails.
    static func generate(bits: Int32 = 2048) -> RSAKeyPair? {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, "RSA", nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits) == 1,
            EVP_PKEY_generate(context, &key) == 1, let key
        else { return nil }
        defer { EVP_PKEY_free(key) }
        guard let modulus = number("n", of: key), let exponent = number("e", of: key),
            let pem = writtenPEM({ PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) == 1 })
        else { return nil }
        return RSAKeyPair(privatePEM: pem, modulus: modulus, exponent: exponent)
    }

    private static func number(_ name: String, of key: OpaquePointer) -> [UInt8]? {
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(key, name, &number) == 1, let number else { return nil }
        defer { BN_free(number) }
        var bytes = [UInt8](repeating: 0, count: Int(BN_num_bits(number) + 7) / 8)
        return BN_bn2bin(number, &bytes) == Int32(bytes.count) ? bytes : nil
    }
}
