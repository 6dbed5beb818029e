extension Configuration {
    /// A bucket of S3 or a compatible service.
    package struct S3: Sendable, Equatable {
        package var bucket: String
        /// The beginning of the names of all objects; empty, or with a slash at the end.
        package var prefix = ""
        package var region: String
        /// The URL of the service without a path, such as `https://s3.eu-central-1.amazonaws.com`.
        package var endpoint: String
        /// Whether the bucket is part of the path instead of the host name.
        package var usesPathStyle: Bool
        /// The URL of the bucket for the public, such as that of a CDN, without a trailing slash; nil if the server sends
        /// the images itself.
        package var publicURL: String?

        package var accessKeyID: String
        package var secretAccessKey: String
        package var sessionToken: String?

        /// The URL of the bucket without a trailing slash.
        package var baseURL: String {
            if usesPathStyle { return "\(endpoint)/\(bucket)" }
            let scheme = endpoint.hasPrefix("https://") ? "https://" : "http://"
            return "\(scheme)\(bucket).\(endpoint.dropFirst(scheme.count))"
        }

        /// Parses `s3://BUCKET/PREFIX?region=…&endpoint=…&addressing=…&public=…`.
        init(_ text: String, _ credentials: S3Credentials) throws(Malformed) {
            let parts = text.dropFirst(5).split(
                separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            let path = parts[0].split(
                separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            bucket = String(path[0])
            guard (3...63).contains(bucket.utf8.count), bucket.utf8.allSatisfy(Self.isBucketByte)
            else {
                throw Malformed("must name a bucket of 3 to 63 lower-case letters, digits, . and -")
            }
            var folder = path.count == 2 ? path[1] : ""
            while folder.hasSuffix("/") { folder.removeLast() }
            if !folder.isEmpty {
                guard folder.utf8.count <= 200, folder.utf8.allSatisfy(Self.isPrefixByte),
                    !folder.split(separator: "/", omittingEmptySubsequences: false).contains(
                        where: { $0.isEmpty || $0 == "." || $0 == ".." })
                else {
                    throw Malformed(
                        "has a prefix with other characters than letters, digits, . _ - and /")
                }
                prefix = "\(folder)/"
            }
            let options = try Self.options(parts.count == 2 ? parts[1] : "")
            guard let region = options["region"], region.utf8.allSatisfy(Self.isBucketByte) else {
                throw Malformed("must have a region, like s3://covers?region=eu-central-1")
            }
            self.region = region
            endpoint = "https://s3.\(region).amazonaws.com"
            if let text = options["endpoint"] {
                endpoint = try Self.endpoint(text)
            }
            switch options["addressing"] {
            case "path": usesPathStyle = true
            case "virtual": usesPathStyle = false
            // Other services have no certificate for a host name per bucket unless it is set up, and the certificate
            // of AWS does not cover names with dots.
            case nil: usesPathStyle = options["endpoint"] != nil || bucket.contains(".")
            default: throw Malformed("has an unknown addressing: it must be path or virtual")
            }
            publicURL = try options["public"].map { text throws(Malformed) in
                do throws(Malformed) {
                    return try Read.publicURL(text)
                } catch {
                    throw Malformed("has a public URL that \(error.reason)")
                }
            }
            accessKeyID = credentials.accessKeyID
            secretAccessKey = credentials.secretAccessKey
            sessionToken = credentials.sessionToken
        }

        private static func endpoint(_ text: String) throws(Malformed) -> String {
            let malformed = Malformed("has an endpoint that is not a URL without a path")
            guard let endpoint = try? Read.publicURL(text),
                endpoint.split(separator: "/").count == 2
            else { throw malformed }
            return endpoint
        }

        private static func options(
            _ query: Substring
        ) throws(Malformed) -> [String: String] {
            var options: [String: String] = [:]
            for part in query.split(separator: "&") {
                let pair = part.split(
                    separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let name = String(pair[0])
                guard ["region", "endpoint", "addressing", "public"].contains(name) else {
                    throw Malformed("has the unknown option '\(name)'")
                }
                guard pair.count == 2, !pair[1].isEmpty, options[name] == nil else {
                    throw Malformed("must have one value for \(name)")
                }
                options[name] = String(pair[1])
            }
            return options
        }

        private static func isBucketByte(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        }

        private static func isPrefixByte(_ byte: UInt8) -> Bool {
            isBucketByte(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "/")
        }
    }
}
