extension Configuration {
    /// The settings of sign-in and sessions.
    package struct Identity: Sendable, Equatable {
        /// The path of the session keys. If it is nil, development creates a file and a production server does not start.
        package var sessionKeysFile: String?
        /// The accepted values of the `iss` claim.
        package var appleIssuers: [String]
        package var appleJWKSURL: String
        package var appleTokenURL: String
        package var appleRevokeURL: String
        /// The key for requesting refresh tokens from Apple and revoking them. nil if it is not configured.
        package var appleKey: AppleKey?

        /// A "Sign in with Apple" key of a developer team.
        package struct AppleKey: Sendable, Equatable {
            package var file: String
            package var keyID: String
            package var teamID: String
        }

        init(_ input: inout Variables) throws(ConfigError) {
            sessionKeysFile = try input.optional("BOOKPLATE_SESSION_KEYS", read: Read.text)
            appleIssuers =
                try input.optional("BOOKPLATE_APPLE_ISSUER", read: Read.list)
                ?? ["https://appleid.apple.com", "https://account.apple.com"]

            let url = Read.url("https", "http")
            appleJWKSURL =
                try input.optional("BOOKPLATE_APPLE_JWKS_URL", read: url)
                ?? "https://appleid.apple.com/auth/keys"
            appleTokenURL =
                try input.optional("BOOKPLATE_APPLE_TOKEN_URL", read: url)
                ?? "https://appleid.apple.com/auth/token"
            appleRevokeURL =
                try input.optional("BOOKPLATE_APPLE_REVOKE_URL", read: url)
                ?? "https://appleid.apple.com/auth/revoke"

            let file = try input.optional("BOOKPLATE_APPLE_KEY_FILE", read: Read.text)
            let keyID = try input.optional("BOOKPLATE_APPLE_KEY_ID", read: Read.text)
            let teamID = try input.optional("BOOKPLATE_APPLE_TEAM_ID", read: Read.text)
            if let file, let keyID, let teamID {
                appleKey = AppleKey(file: file, keyID: keyID, teamID: teamID)
            } else if file != nil || keyID != nil || teamID != nil {
                let missing =
                    file == nil ? "KEY_FILE" : keyID == nil ? "KEY_ID" : "TEAM_ID"
                throw ConfigError(
                    "BOOKPLATE_APPLE_\(missing)",
                    "is not set: the key file, the key ID, and the team ID must be set together")
            }
        }
    }
}
