extension Configuration {
    /// The location where covers are stored.
    package enum Storage: Sendable, Equatable {
        case folder(String)
        case s3(S3)

        package struct S3: Sendable, Equatable {
            package var bucket: String
            package var endpoint: String?
            package var region: String
            package var accessKeyID: String
            package var secretAccessKey: String
            package var sessionToken: String?
        }

        private enum Location {
            case folder(String)
            case bucket(String, endpoint: String?, region: String?)
        }

        init(_ input: inout Variables) throws(ConfigError) {
            let name = "BOOKPLATE_STORAGE"
            let keyID = try input.optional("AWS_ACCESS_KEY_ID", read: Read.text)
            let secret = try input.optional("AWS_SECRET_ACCESS_KEY", read: Read.text)
            let token = try input.optional("AWS_SESSION_TOKEN", read: Read.text)
            let defaultRegion = try input.optional("AWS_REGION", read: Read.text)

            switch try input.optional(name, read: Self.location) ?? .folder(".bookplate/objects") {
            case .folder(let path):
                self = .folder(path)
            case .bucket(let bucket, let endpoint, let region):
                guard let region = region ?? defaultRegion else {
                    throw ConfigError(name, "must have region=NAME, because AWS_REGION is not set")
                }
                guard let keyID else {
                    throw ConfigError("AWS_ACCESS_KEY_ID", "is not set: \(name) is on S3")
                }
                guard let secret else {
                    throw ConfigError("AWS_SECRET_ACCESS_KEY", "is not set: \(name) is on S3")
                }
                self = .s3(
                    S3(
                        bucket: bucket, endpoint: endpoint, region: region, accessKeyID: keyID,
                        secretAccessKey: secret, sessionToken: token))
            }
        }

        /// Parses `file:PATH` or `s3://BUCKET?endpoint=URL&region=NAME`.
        private static func location(_ text: String) throws(Malformed) -> Location {
            if text.hasPrefix("file:"), text.utf8.count > 5 {
                return .folder(String(text.dropFirst(5)))
            }
            guard text.hasPrefix("s3://") else {
                throw Malformed("must be file:PATH or s3://BUCKET?endpoint=…&region=…")
            }
            let parts = text.dropFirst(5).split(
                separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            guard let bucket = parts.first, (3...63).contains(bucket.utf8.count),
                !bucket.contains("/")
            else { throw Malformed("must have the name of a bucket after s3://") }

            var endpoint: String?
            var region: String?
            for parameter in parts.count == 2 ? parts[1].split(separator: "&") : [] {
                let pair = parameter.split(separator: "=", maxSplits: 1)
                switch (pair.first, pair.count) {
                case ("endpoint", 2): endpoint = try Read.url("https", "http")(String(pair[1]))
                case ("region", 2): region = String(pair[1])
                default: throw Malformed("may only have the parameters endpoint=… and region=…")
                }
            }
            return .bucket(String(bucket), endpoint: endpoint, region: region)
        }
    }
}
