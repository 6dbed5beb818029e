import CCrypto

/// A key that encrypts small secrets at rest, such as Apple's refresh tokens, with AES-256-GCM.
///
/// A sealed value has the layout `version (1) | key ID (6) | nonce (12) | ciphertext | tag (16)`, in bytes.
/// With random 96-bit nonces, one key may seal up to 2^32 values.
package struct SealingKey: Sendable, Equatable {
    static let idBytes = 6
    private static let version: UInt8 = 1
    private static let nonceBytes = 12
    private static let tagBytes = 16
    private static let prefixBytes = 1 + idBytes

    /// Six random bytes that identify the key in sealed values.
    let id: [UInt8]
    let secret: [UInt8]

    /// - Returns: Nil unless the ID has 6 bytes and the secret has 32.
    init?(id: [UInt8], secret: [UInt8]) {
        guard id.count == Self.idBytes, secret.count == 32 else { return nil }
        self.id = id
        self.secret = secret
    }

    /// Returns the ID of the key that sealed a value; nil if it does not have the layout of a sealed value.
    static func id(of sealed: [UInt8]) -> [UInt8]? {
        guard sealed.count >= prefixBytes + nonceBytes + tagBytes, sealed[0] == version else {
            return nil
        }
        return Array(sealed[1..<prefixBytes])
    }

    /// Encrypts and authenticates a plaintext.
    ///
    /// - Parameter context: Authenticated but not stored, for example the owner's ID. Opening the value
    ///   requires the same context.
    func seal(_ plaintext: [UInt8], context: [UInt8]) -> [UInt8] {
        let nonce = randomBytes(Self.nonceBytes)
        let prefix = [Self.version] + id
        var output = [UInt8](repeating: 0, count: plaintext.count)
        var tag = [UInt8](repeating: 0, count: Self.tagBytes)
        let done = withCipher { cipher in
            var count: Int32 = 0
            return EVP_EncryptInit_ex(cipher, EVP_aes_256_gcm(), nil, secret, nonce) == 1
                && EVP_EncryptUpdate(cipher, nil, &count, prefix, Int32(prefix.count)) == 1
                && (context.isEmpty
                    || EVP_EncryptUpdate(cipher, nil, &count, context, Int32(context.count)) == 1)
                && (plaintext.isEmpty
                    || EVP_EncryptUpdate(
                        cipher, &output, &count, plaintext, Int32(plaintext.count)) == 1)
                && EVP_EncryptFinal_ex(cipher, nil, &count) == 1
                && EVP_CIPHER_CTX_ctrl(
                    cipher, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagBytes), &tag) == 1
        }
        // With valid sizes, encryption in memory fails only if libcrypto was built without AES-GCM.
        precondition(done, "libcrypto does not support AES-256-GCM")
        return prefix + nonce + output + tag
    }

    /// Decrypts a sealed value.
    ///
    /// - Returns: Nil if the value was damaged, or was sealed with another key or context.
    func open(_ sealed: [UInt8], context: [UInt8]) -> [UInt8]? {
        guard Self.id(of: sealed) == id else { return nil }
        let prefix = Array(sealed[..<Self.prefixBytes])
        let nonce = Array(sealed[Self.prefixBytes..<Self.prefixBytes + Self.nonceBytes])
        let input = Array(sealed[(Self.prefixBytes + Self.nonceBytes)...].dropLast(Self.tagBytes))
        var tag = Array(sealed.suffix(Self.tagBytes))
        var output = [UInt8](repeating: 0, count: input.count)
        let done = withCipher { cipher in
            var count: Int32 = 0
            return EVP_DecryptInit_ex(cipher, EVP_aes_256_gcm(), nil, secret, nonce) == 1
                && EVP_DecryptUpdate(cipher, nil, &count, prefix, Int32(prefix.count)) == 1
                && (context.isEmpty
                    || EVP_DecryptUpdate(cipher, nil, &count, context, Int32(context.count)) == 1)
                && (input.isEmpty
                    || EVP_DecryptUpdate(cipher, &output, &count, input, Int32(input.count)) == 1)
                && EVP_CIPHER_CTX_ctrl(
                    cipher, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagBytes), &tag) == 1
                && EVP_DecryptFinal_ex(cipher, nil, &count) == 1
        }
        ERR_clear_error()
        return done ? output : nil
    }

    private func withCipher(_ body: (OpaquePointer) -> Bool) -> Bool {
        guard let cipher = EVP_CIPHER_CTX_new() else { return false }
        defer { EVP_CIPHER_CTX_free(cipher) }
        return body(cipher)
    }
}
