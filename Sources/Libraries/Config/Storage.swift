extension Configuration {
    /// The location where covers are stored.
    package enum Storage: Sendable, Equatable {
        /// The path of a folder.
        case folder(String)
        case s3(S3)

        static func read(
            _ input: inout Variables, _ credentials: Result<S3Credentials?, ConfigError>
        ) throws(ConfigError) -> Storage {
            let text = try input.optional("BOOKPLATE_STORAGE", read: Read.text)
            return try Storage(text ?? "file:.bookplate/objects", credentials)
        }

        /// Parses `file:PATH` or `s3://BUCKET/PREFIX?region=…`.
        ///
        /// - Parameter name: The name of the variable or the option, for the error.
        package init(
            _ text: String, _ credentials: Result<S3Credentials?, ConfigError>,
            name: String = "BOOKPLATE_STORAGE"
        ) throws(ConfigError) {
            if text.hasPrefix("file:"), text.utf8.count > 5 {
                self = .folder(String(text.dropFirst(5)))
                return
            }
            guard text.hasPrefix("s3://") else {
                throw ConfigError(name, "must be file:PATH or s3://BUCKET/PREFIX?region=REGION")
            }
            guard let credentials = try credentials.get() else {
                throw ConfigError(
                    name,
                    "is on S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
            }
            do throws(Malformed) {
                self = .s3(try S3(text, credentials))
            } catch {
                throw ConfigError(name, error.reason)
            }
        }

        /// The URL of the objects for the public, without a trailing slash; nil if the server sends them.
        package var publicURL: String? {
            guard case .s3(let s3) = self, let url = s3.publicURL else { return nil }
            return s3.prefix.isEmpty ? url : "\(url)/\(s3.prefix.dropLast())"
        }

        /// A text that identifies the storage: the folder, or the URL of the bucket with the prefix of the objects.
        package var location: String {
            switch self {
            case .folder(let path): "file:\(path)"
            case .s3(let s3): "\(s3.baseURL)/\(s3.prefix)"
            }
        }

        /// The location without credentials, for messages.
        package var description: String {
            switch self {
            case .folder(let path): "file:\(path)"
            case .s3(let s3): "s3://\(s3.bucket)/\(s3.prefix)"
            }
        }
    }

    /// The key with which requests to S3 are signed.
    package struct S3Credentials: Sendable, Equatable {
        package var accessKeyID: String
        package var secretAccessKey: String
        package var sessionToken: String?

        static func read(_ input: inout Variables) -> Result<S3Credentials?, ConfigError> {
            do throws(ConfigError) {
                return .success(try S3Credentials(&input))
            } catch {
                return .failure(error)
            }
        }

        /// Returns nil if the variables are not set.
        init?(_ input: inout Variables) throws(ConfigError) {
            let id = try input.optional("AWS_ACCESS_KEY_ID", read: Read.credential)
            let secret = try input.optional("AWS_SECRET_ACCESS_KEY", read: Read.credential)
            sessionToken = try input.optional("AWS_SESSION_TOKEN", read: Read.credential)
            guard let id, let secret else { return nil }
            accessKeyID = id
            secretAccessKey = secret
        }
    }
}

extension Read {
    /// A key or a token: visible ASCII characters.
    static func credential(_ text: String) throws(Malformed) -> String {
        guard text.utf8.count <= 8192, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Malformed("must consist of visible ASCII characters without blanks")
        }
        return text
    }
}
