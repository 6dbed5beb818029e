import NIOSSL

/// A server certificate with its key, which were generated for these tests and are not used anywhere else.
enum TestCertificate {
    static func serverContext() throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [
                .certificate(try NIOSSLCertificate(bytes: Array(certificate.utf8), format: .pem))
            ],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)))
        configuration.applicationProtocols = ["http/1.1"]
        return try NIOSSLContext(configuration: configuration)
    }

    static func clientContext() throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        return try NIOSSLContext(configuration: configuration)
    }

    private static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQglvhgV89MGoTruhRE
        zO1rleEu2fGBoytIQpXHmvgMn8uhRANCAAQmHHTuaF/e1mhc1NMzibJGVquCDWbh
        suVrPPpVLWx23oeBfmsOqK8RT60ndpasLF207cdVOPrSUXIJGrr0zLxg
        -----END PRIVATE KEY-----
        """

    private static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBgDCCASWgAwIBAgIUK6mX9aMqrGvGJ7O8TY66Pbz54QgwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyNzE4NTIzNFoYDzIxMjYxMTAz
        MTg1MjM0WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAAQmHHTuaF/e1mhc1NMzibJGVquCDWbhsuVrPPpVLWx23oeBfmsOqK8R
        T60ndpasLF207cdVOPrSUXIJGrr0zLxgo1MwUTAdBgNVHQ4EFgQU5DiyiExIIsyc
        db7Xw/lLgX6apnkwHwYDVR0jBBgwFoAU5DiyiExIIsycdb7Xw/lLgX6apnkwDwYD
        VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEAvnA1cFwtgVLRTod5SFqA
        BQ8BDgl/jq+dNHYPNSTNOgoCIQDNWbQrtXfBCcrDgh+QpMNRubqlzpWbqPA8wLtm
        rM5xaQ==
        -----END CERTIFICATE-----
        """
}
