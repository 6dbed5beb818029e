extension SessionKeys {
    /// Derives a secret from another secret and this installation's sealing key.
    ///
    /// The result is deterministic and unpredictable without the sealing key. It changes when a new sealing
    /// key is created.
    ///
    /// - Parameter purpose: Separates secrets for different uses.
    /// - Returns: 32 bytes.
    package func derive(_ secret: [UInt8], for purpose: String) -> [UInt8] {
        let key = hmacSHA256(key: sealing[0].key.secret, Array(purpose.utf8))
        return hmacSHA256(key: key, secret)
    }
}
