import CCrypto

/// Returns whether the signature of the bytes is valid. Its form is that of RFC 7518 and RFC 8037.
///
/// - Parameter publicKey: The key in PEM. A key of another type than the algorithm's never verifies.
func signatureVerifies(
    _ signature: [UInt8], of bytes: [UInt8], algorithm: TokenAlgorithm, publicKey: [UInt8]
) -> Bool {
    // A failed check leaves entries in libcrypto's per-thread error queue.
    defer { ERR_clear_error() }
    guard let scheme = SignatureScheme(algorithm), let count = Int32(exactly: publicKey.count),
        let memory = BIO_new_mem_buf(publicKey, count)
    else { return false }
    defer { BIO_free(memory) }
    guard let key = PEM_read_bio_PUBKEY(memory, nil, nil, nil) else { return false }
    defer { EVP_PKEY_free(key) }
    guard EVP_PKEY_is_a(key, scheme.keyType) == 1, let context = EVP_MD_CTX_new() else {
        return false
    }
    defer { EVP_MD_CTX_free(context) }
    var keyContext: OpaquePointer?  // belongs to `context`
    guard EVP_DigestVerifyInit_ex(context, &keyContext, scheme.digest, nil, nil, key, nil) == 1
    else { return false }
    var form = signature
    switch scheme.form {
    case .plain: break
    case .pss:
        guard EVP_PKEY_CTX_set_rsa_padding(keyContext, RSA_PKCS1_PSS_PADDING) == 1,
            EVP_PKEY_CTX_set_rsa_pss_saltlen(keyContext, RSA_PSS_SALTLEN_DIGEST) == 1
        else { return false }
    case .twoNumbers(let bytesEach):
        guard EVP_PKEY_get_bits(key) == scheme.curveBits, signature.count == 2 * bytesEach,
            let der = derSignature(signature, bytesEach: bytesEach)
        else { return false }
        form = der
    }
    return EVP_DigestVerify(context, form, form.count, bytes, bytes.count) == 1
}

/// The parameters of an algorithm for libcrypto.
private struct SignatureScheme {
    enum Form {
        case plain
        case pss
        /// Two numbers of ECDSA, one after the other, each with leading zeros.
        case twoNumbers(bytesEach: Int)
    }

    let keyType: String
    /// Nil if the algorithm contains the digest.
    let digest: String?
    let form: Form
    var curveBits: Int32 = 0

    /// - Returns: Nil for algorithms with a shared secret.
    init?(_ algorithm: TokenAlgorithm) {
        switch algorithm {
        case .rs256: self.init("RSA", "SHA256", .plain)
        case .rs384: self.init("RSA", "SHA384", .plain)
        case .rs512: self.init("RSA", "SHA512", .plain)
        case .ps256: self.init("RSA", "SHA256", .pss)
        case .ps384: self.init("RSA", "SHA384", .pss)
        case .ps512: self.init("RSA", "SHA512", .pss)
        case .es256: self.init("EC", "SHA256", .twoNumbers(bytesEach: 32), curveBits: 256)
        case .es384: self.init("EC", "SHA384", .twoNumbers(bytesEach: 48), curveBits: 384)
        case .es512: self.init("EC", "SHA512", .twoNumbers(bytesEach: 66), curveBits: 521)
        case .edDSA, .ed25519: self.init("ED25519", nil, .plain)
        case .hs256: return nil
        }
    }

    private init(_ keyType: String, _ digest: String?, _ form: Form, curveBits: Int32 = 0) {
        self.keyType = keyType
        self.digest = digest
        self.form = form
        self.curveBits = curveBits
    }
}

/// Returns an ECDSA signature in DER, which libcrypto expects.
private func derSignature(_ signature: [UInt8], bytesEach: Int) -> [UInt8]? {
    let numbers = signature.withUnsafeBufferPointer { bytes in
        (
            BN_bin2bn(bytes.baseAddress, Int32(bytesEach), nil),
            BN_bin2bn(bytes.baseAddress?.advanced(by: bytesEach), Int32(bytesEach), nil)
        )
    }
    let pair = ECDSA_SIG_new()
    // On success, the pair owns the numbers.
    guard let pair, ECDSA_SIG_set0(pair, numbers.0, numbers.1) == 1 else {
        BN_free(numbers.0)
        BN_free(numbers.1)
        ECDSA_SIG_free(pair)
        return nil
    }
    defer { ECDSA_SIG_free(pair) }
    var encoded: UnsafeMutablePointer<UInt8>?
    let count = i2d_ECDSA_SIG(pair, &encoded)
    defer { CRYPTO_free(encoded, nil, 0) }
    guard count > 0, let encoded else { return nil }
    return Array(UnsafeBufferPointer(start: encoded, count: Int(count)))
}
