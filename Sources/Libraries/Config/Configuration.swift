/// The settings of a program, read and validated once at start.
///
/// `docs/configuration.md` describes the variables and their defaults. Only this module reads the environment.
package struct Configuration: Sendable, Equatable {
    package enum Environment: String, Sendable, CaseIterable {
        case development, production
    }

    package enum LogLevel: String, Sendable, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    package enum LogFormat: String, Sendable, CaseIterable {
        case text, json
    }

    /// Which GraphQL documents the server executes: all, all with a log of the unknown ones, or only trusted documents.
    package enum Documents: String, Sendable, CaseIterable {
        case open, logged
        case onlyKnown = "only-known"
    }

    /// Production does not create session keys, does not issue development tokens, and masks internal errors.
    package var environment: Environment
    package var host: String
    /// The TCP port. 0 lets the operating system choose a free one.
    package var port: Int
    /// The prefix of all URLs that are sent to clients, without a trailing slash.
    package var publicURL: String
    /// Whether `publicURL` is configured. Otherwise it is the default of development.
    package var isPublicURLSet: Bool
    /// Addresses and CIDR blocks of the proxies whose `X-Forwarded-For` is trusted. Empty by default.
    package var trustedProxies: [String]
    /// Origins, besides the server's own, whose pages may open a WebSocket. `*` allows every origin.
    package var allowedOrigins: [String]

    package var database: Database
    package var identity: Identity
    package var storage: Storage
    /// nil if it is not known where backups are.
    package var backups: BackupFolder?
    /// The key of S3: nil if none is configured, an error if a variable is malformed. Installations without a bucket ignore
    /// the error.
    package var s3Credentials: Result<S3Credentials?, ConfigError>
    package var sources: Sources
    package var limits: Limits

    package var documents: Documents
    package var introspection: Bool
    /// Whether operations may use `@defer` and `@stream`.
    package var incremental: Bool
    /// Whether requests may have the parameter `onError`.
    package var onError: Bool
    package var explorer: Bool
    package var logLevel: LogLevel
    package var logFormat: LogFormat
    /// Whether a line is logged for each HTTP request.
    package var accessLog: Bool
    /// Operations that take at least this many milliseconds are logged as slow. 0 logs none.
    package var slowOperationMilliseconds: Int
    /// nil if traces are not exported.
    package var traces: Traces?
    /// The seconds from a stop signal until the server stops listening. Meanwhile it is not ready.
    package var stopDelaySeconds: Int
    /// The service manager that has started the process; nil if there is none that wants to be notified.
    package var serviceManager: ServiceManager?

    /// Variables with our prefix whose names are unknown. Programs ignore them and print a warning for each.
    package var unknownVariables: [UnknownVariable]

    /// Reads a configuration from a dictionary of variables.
    ///
    /// - Throws: for the first variable that is malformed or missing.
    package init(_ variables: [String: String]) throws(ConfigError) {
        var input = Variables(variables)

        environment =
            try input.optional("BOOKPLATE_ENV", read: Read.oneOf(Environment.self)) ?? .development
        let isDevelopment = environment == .development

        host = try input.optional("BOOKPLATE_HOST", read: Read.host) ?? "127.0.0.1"
        port = try input.optional("BOOKPLATE_PORT", read: Read.integer(0...65535)) ?? 8080
        let publicURL = try input.optional("BOOKPLATE_PUBLIC_URL", read: Read.publicURL)
        self.publicURL = publicURL ?? "http://localhost:\(port)"
        isPublicURLSet = publicURL != nil
        allowedOrigins =
            try input.optional("BOOKPLATE_ALLOWED_ORIGINS", read: Read.list) ?? []

        database = try Database(&input)
        identity = try Identity(&input)
        s3Credentials = S3Credentials.read(&input)
        storage = try Storage.read(&input, s3Credentials)
        backups = try input.optional("BOOKPLATE_BACKUPS", read: Read.text)
            .map(BackupFolder.init(path:))
        sources = try Sources(&input)
        limits = try input.optional("BOOKPLATE_LIMITS", read: Limits.read) ?? Limits()
        if isDevelopment, !limits.areRatesGiven { limits = limits.withoutRates }
        trustedProxies =
            try input.optional("BOOKPLATE_TRUSTED_PROXIES", read: Read.networks) ?? []

        documents =
            try input.optional("BOOKPLATE_DOCUMENTS", read: Read.oneOf(Documents.self)) ?? .open
        introspection =
            try input.optional("BOOKPLATE_INTROSPECTION", read: Read.boolean) ?? isDevelopment
        incremental =
            try input.optional("BOOKPLATE_INCREMENTAL", read: Read.boolean) ?? false
        onError = try input.optional("BOOKPLATE_ON_ERROR", read: Read.boolean) ?? false
        explorer = try input.optional("BOOKPLATE_EXPLORER", read: Read.boolean) ?? isDevelopment
        logLevel =
            try input.optional("BOOKPLATE_LOG_LEVEL", read: Read.oneOf(LogLevel.self)) ?? .info
        logFormat =
            try input.optional("BOOKPLATE_LOG_FORMAT", read: Read.oneOf(LogFormat.self))
            ?? (isDevelopment ? .text : .json)

        accessLog =
            try input.optional("BOOKPLATE_ACCESS_LOG", read: Read.boolean) ?? !isDevelopment

        slowOperationMilliseconds =
            try input.optional("BOOKPLATE_SLOW_OPERATION_MS", read: Read.integer(0...600_000))
            ?? 500

        traces = try Traces(&input)

        stopDelaySeconds =
            try input.optional("BOOKPLATE_STOP_DELAY", read: Read.integer(0...300))
            ?? (isDevelopment ? 0 : 8)
        serviceManager = ServiceManager(variables)

        unknownVariables = input.unknown
    }

    /// Checks that the URL of this server is configured in production, where apps run on other machines.
    package func requirePublicURL() throws(ConfigError) {
        guard isPublicURLSet || environment == .development else {
            throw ConfigError(
                "BOOKPLATE_PUBLIC_URL",
                "is not set: production needs the URL of this server as apps see it, such as https://books.example.com"
            )
        }
    }

    /// The path of the file with the session keys.
    ///
    /// In development there is a default path. The server and the admin CLI share that file, and the first of them to start
    /// creates it.
    ///
    /// - Throws: in production, if no file is configured.
    package func sessionKeysFile() throws(ConfigError) -> String {
        if let file = identity.sessionKeysFile { return file }
        guard environment == .development else {
            throw ConfigError(
                "BOOKPLATE_SESSION_KEYS",
                "is not set: set it to the path of the session keys, and create the file with bookplate-admin keys rotate"
            )
        }
        return ".bookplate/session-keys"
    }
}
