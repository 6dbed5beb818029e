extension SessionKeys {
    /// A secret that follows from another and this installation's keys: the same each time, and
    /// unknown to who has the other.
    ///
    /// It changes when a new sealing key is made, which is rare.
    ///
    /// - Parameter purpose: keeps secrets for different uses apart.
    /// - Returns: 32 bytes.
    package func derive(_ secret: [UInt8], for purpose: String) -> [UInt8] {
        let key = hmacSHA256(key: sealing[0].key.secret, Array(purpose.utf8))
        return hmacSHA256(key: key, secret)
    }
}
