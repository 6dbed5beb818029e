import Testing

@testable import Config

/// The location of covers in `BOOKPLATE_STORAGE`.
@Suite struct StorageConfigurationTests {
    private static let key = [
        "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "token",
    ]

    private func storage(_ text: String) throws -> Configuration.Storage {
        try Configuration(Self.key.merging(["BOOKPLATE_STORAGE": text]) { $1 }).storage
    }

    @Test(arguments: [
        ("s3://covers?region=eu-west-1", "https://covers.s3.eu-west-1.amazonaws.com", ""),
        (
            "s3://covers/a/b_C.1/?region=eu-west-1&addressing=path",
            "https://s3.eu-west-1.amazonaws.com/covers", "a/b_C.1/"
        ),
        (
            "s3://my.covers?region=eu-west-1", "https://s3.eu-west-1.amazonaws.com/my.covers", ""
        ),
        (
            "s3://covers/x?endpoint=http://minio:9000/&region=home", "http://minio:9000/covers",
            "x/"
        ),
        (
            "s3://covers?endpoint=https://s3.example:9000&region=r&addressing=virtual",
            "https://covers.s3.example:9000", ""
        ),
    ])
    func bucketsHaveAURLAndAPrefix(text: String, url: String, prefix: String) throws {
        guard case .s3(let s3) = try storage(text) else {
            Issue.record("not a bucket")
            return
        }
        #expect(s3.baseURL == url && s3.prefix == prefix)
        #expect(s3.accessKeyID == "id" && s3.secretAccessKey == "secret")
        #expect(s3.sessionToken == "token" && s3.publicURL == nil)
    }

    @Test func malformedKeysMatterOnlyForBuckets() throws {
        let configuration = try Configuration(["AWS_ACCESS_KEY_ID": "a b"])
        #expect(configuration.storage == .folder(".bookplate/objects"))
        let error = #expect(throws: ConfigError.self) {
            try Configuration.Storage(
                "s3://covers?region=r", configuration.s3Credentials, name: "--to")
        }
        #expect(error?.name == "AWS_ACCESS_KEY_ID")
    }

    @Test func publicURLIncludesThePrefix() throws {
        let location = "region=eu-west-1&public=https://cdn.example/a/"
        #expect(try storage("s3://covers?\(location)").publicURL == "https://cdn.example/a")
        #expect(try storage("s3://covers/p?\(location)").publicURL == "https://cdn.example/a/p")
        #expect(try storage("s3://covers/p?region=eu-west-1").publicURL == nil)
        #expect(try storage("file:covers").publicURL == nil)
    }

    @Test(arguments: [
        "s3://", "s3://ab?region=r", "s3://Covers?region=r", "s3://covers", "s3://covers?region=",
        "s3://covers?region=r&region=s", "s3://covers?region=r&key=x", "s3://covers?region=R/",
        "s3://covers/a//b?region=r", "s3://covers/../b?region=r", "s3://covers/a b?region=r",
        "s3://covers?region=r&endpoint=minio:9000", "s3://covers?region=r&endpoint=http://a/b",
        "s3://covers?region=r&addressing=dns", "s3://covers?region=r&public=cdn.example",
        "s3://user:word@covers?region=r",
    ])
    func malformedLocationsAreRefused(text: String) {
        let error = #expect(throws: ConfigError.self) { try storage(text) }
        #expect(error?.name == "BOOKPLATE_STORAGE")
        #expect(error?.description.contains("secret") == false)
    }
}
