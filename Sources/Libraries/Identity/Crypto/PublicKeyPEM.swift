import CCrypto

/// Builds public keys from their numbers, as PEM. libcrypto checks that the key is valid.
enum PublicKeyPEM {
    /// Returns an RSA key; nil unless it has 2048 to 8192 bits and an odd exponent of at most 32 bits above 2.
    ///
    /// - Parameters:
    ///   - modulus: The modulus in big-endian order; leading zeros are allowed.
    ///   - exponent: The public exponent in big-endian order.
    static func rsa(modulus: [UInt8], exponent: [UInt8]) -> [UInt8]? {
        guard modulus.count <= 1025, (1...4).contains(exponent.count),
            exponent.count > 1 || exponent[0] > 2, exponent[exponent.count - 1] & 1 == 1,
            let n = BN_bin2bn(modulus, Int32(modulus.count), nil)
        else { return nil }
        defer { BN_free(n) }
        guard (2048...8192).contains(BN_num_bits(n)),
            let e = BN_bin2bn(exponent, Int32(exponent.count), nil)
        else { return nil }
        defer { BN_free(e) }
        return pem(type: "RSA") { parameters in
            OSSL_PARAM_BLD_push_BN(parameters, name("n"), n) == 1
                && OSSL_PARAM_BLD_push_BN(parameters, name("e"), e) == 1
        }
    }

    /// A curve for ECDSA: its name in libcrypto, and the size of a coordinate.
    struct Curve {
        let name: StaticString
        let bytes: Int

        static let p256 = Curve(name: "prime256v1", bytes: 32)
        static let p384 = Curve(name: "secp384r1", bytes: 48)
        static let p521 = Curve(name: "secp521r1", bytes: 66)
    }

    /// Returns a key on the curve with these coordinates; nil if the point is not on the curve.
    static func ec(_ curve: Curve, x: [UInt8], y: [UInt8]) -> [UInt8]? {
        guard x.count == curve.bytes, y.count == curve.bytes else { return nil }
        let point: [UInt8] = [0x04] + x + y
        return point.withUnsafeBytes { point in
            pem(type: "EC") { parameters in
                OSSL_PARAM_BLD_push_utf8_string(
                    parameters, name("group"), name(curve.name), 0) == 1
                    && OSSL_PARAM_BLD_push_octet_string(
                        parameters, name("pub"), point.baseAddress, point.count) == 1
            }
        }
    }

    /// Returns an Ed25519 key; nil if it does not have 32 bytes.
    static func ed25519(_ key: [UInt8]) -> [UInt8]? {
        guard key.count == 32 else { return nil }
        return key.withUnsafeBytes { key in
            pem(type: "ED25519") { parameters in
                OSSL_PARAM_BLD_push_octet_string(
                    parameters, name("pub"), key.baseAddress, key.count) == 1
            }
        }
    }

    /// Returns a C string that is never freed, because the builder keeps pointers to names and values.
    private static func name(_ text: StaticString) -> UnsafePointer<CChar> {
        UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
    }

    private static func pem(type: String, _ push: (OpaquePointer) -> Bool) -> [UInt8]? {
        defer { ERR_clear_error() }
        guard let builder = OSSL_PARAM_BLD_new() else { return nil }
        defer { OSSL_PARAM_BLD_free(builder) }
        guard push(builder), let parameters = OSSL_PARAM_BLD_to_param(builder) else { return nil }
        defer { OSSL_PARAM_free(parameters) }
        guard let context = EVP_PKEY_CTX_new_from_name(nil, type, nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        // EVP_PKEY_PUBLIC_KEY, spelled out because Swift does not import this macro.
        let selection = OSSL_KEYMGMT_SELECT_ALL_PARAMETERS | OSSL_KEYMGMT_SELECT_PUBLIC_KEY
        var key: OpaquePointer?
        guard EVP_PKEY_fromdata_init(context) == 1,
            EVP_PKEY_fromdata(context, &key, Int32(selection), parameters) == 1, let key
        else { return nil }
        defer { EVP_PKEY_free(key) }
        guard let check = EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { return nil }
        defer { EVP_PKEY_CTX_free(check) }
        guard EVP_PKEY_public_check(check) == 1 else { return nil }
        return writtenPEM { PEM_write_bio_PUBKEY($0, key) == 1 }
    }
}

/// Returns the bytes that `write` puts into a memory BIO; nil if it fails or writes nothing.
func writtenPEM(_ write: (OpaquePointer) -> Bool) -> [UInt8]? {
    guard let memory = BIO_new(BIO_s_mem()) else { return nil }
    defer { BIO_free(memory) }
    guard write(memory) else { return nil }
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
        let count = BIO_read(memory, &chunk, Int32(chunk.count))
        guard count > 0 else { break }
        text.append(contentsOf: chunk[..<Int(count)])
    }
    return text.isEmpty ? nil : text
}
