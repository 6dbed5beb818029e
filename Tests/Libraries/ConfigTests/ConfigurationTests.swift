import Testing

@testable import Config

@Suite struct ConfigurationTests {
    @Test func hasDefaultsForEverything() throws {
        let configuration = try Configuration([:])
        #expect(configuration.environment == .development)
        #expect(configuration.host == "127.0.0.1")
        #expect(configuration.port == 8080)
        #expect(configuration.publicURL == "http://localhost:8080")
        #expect((8...64).contains(configuration.database.connectionsMax))
        #expect(configuration.storage == .folder(".bookplate/objects"))
        #expect(configuration.introspection && configuration.explorer)
        #expect(!configuration.incremental && !configuration.onError)
        #expect(configuration.logFormat == .text)
        #expect(!configuration.accessLog)
        #expect(configuration.stopDelaySeconds == 0)
        #expect(configuration.serviceManager == nil)
        #expect(configuration.sources.openLibraryURL == "https://openlibrary.org")
    }

    @Test func isStricterInProduction() throws {
        let configuration = try Configuration([
            "BOOKPLATE_ENV": "production", "BOOKPLATE_SESSION_KEYS": "/etc/bookplate/keys",
        ])
        #expect(!configuration.introspection && !configuration.explorer)
        #expect(configuration.logFormat == .json)
        #expect(configuration.accessLog)
        #expect(configuration.stopDelaySeconds == 8)
        #expect(throws: ConfigError.self) {
            try Configuration(["BOOKPLATE_ENV": "production"]).sessionKeysFile()
        }
    }

    @Test func requiresThePublicURLInProduction() throws {
        try Configuration([:]).requirePublicURL()
        try Configuration([
            "BOOKPLATE_ENV": "production", "BOOKPLATE_PUBLIC_URL": "https://books.example",
        ]).requirePublicURL()
        let production = try Configuration(["BOOKPLATE_ENV": "production"])
        #expect(throws: ConfigError.self) { try production.requirePublicURL() }
    }

    @Test func readsTheSocketOfTheServiceManager() throws {
        let watched = try Configuration([
            "NOTIFY_SOCKET": "/run/systemd/notify", "WATCHDOG_USEC": "30000000",
        ])
        #expect(watched.serviceManager?.socket == "/run/systemd/notify")
        #expect(watched.serviceManager?.watchdogMicroseconds == 30_000_000)
        let unwatched = try Configuration(["NOTIFY_SOCKET": "@name", "WATCHDOG_USEC": "soon"])
        #expect(unwatched.serviceManager?.socket == "@name")
        #expect(unwatched.serviceManager?.watchdogMicroseconds == nil)
        #expect(try Configuration(["NOTIFY_SOCKET": "vsock:2:1"]).serviceManager == nil)
    }

    @Test(arguments: [
        (connections: 4, cores: 8, loops: 1), (8, 2, 2), (8, 8, 2), (16, 4, 4), (64, 64, 16),
        (1000, 4, 4),
    ])
    func eachLoopHasAtLeastThreeConnections(connections: Int, cores: Int, loops: Int) throws {
        let database = try Configuration(["BOOKPLATE_DATABASE_CONNECTIONS": "\(connections)"])
            .database
        #expect(database.loopCount(coreCount: cores) == loops)
        #expect((connections - database.jobConnectionCount) / loops >= 3)
    }

    @Test(arguments: [
        ("BOOKPLATE_PORT", "80a"), ("BOOKPLATE_PORT", "65536"),
        ("BOOKPLATE_PORT", "-1"), ("BOOKPLATE_PORT", "+80"), ("BOOKPLATE_HOST", "a b"),
        ("BOOKPLATE_PUBLIC_URL", "books.example"), ("BOOKPLATE_PUBLIC_URL", "ftp://books.example"),
        ("BOOKPLATE_PUBLIC_URL", "https://"), ("BOOKPLATE_PUBLIC_URL", "https://a/?b"),
        ("BOOKPLATE_PUBLIC_URL", "https://user:word@a"),
        ("BOOKPLATE_DATABASE_CONNECTIONS", "3"), ("DATABASE_URL", "mysql"),
        ("BOOKPLATE_STORAGE", "file:"), ("BOOKPLATE_STORAGE", "/var/objects"),
        ("BOOKPLATE_STORAGE", "s3://covers?region=eu"),
        ("BOOKPLATE_LIMITS", "depth"), ("BOOKPLATE_LIMITS", "depth=0"),
        ("BOOKPLATE_LIMITS", "deep=1"), ("BOOKPLATE_LIMITS", "body=99999999999999999999"),
        ("BOOKPLATE_INTROSPECTION", "maybe"), ("BOOKPLATE_EXPLORER", "2"),
        ("BOOKPLATE_INCREMENTAL", "maybe"), ("BOOKPLATE_ON_ERROR", "NULL"),
        ("BOOKPLATE_ENV", "test"), ("BOOKPLATE_LOG_LEVEL", "loud"),
        ("BOOKPLATE_STOP_DELAY", "301"), ("BOOKPLATE_STOP_DELAY", "5s"),
        ("BOOKPLATE_LOG_FORMAT", "xml"), ("BOOKPLATE_FETCH_ALLOW", "a,,b"),
        ("BOOKPLATE_MQTT_URL", "http://broker"), ("BOOKPLATE_MQTT_URL", "mqtt://"),
        ("BOOKPLATE_MQTT_URL", "mqtt://a:b%zz@host"), ("BOOKPLATE_MQTT_URL", "mqtt://host:0"),
        ("BOOKPLATE_MQTT_URL", "mqtt://host?ca=/file"), ("BOOKPLATE_MQTT_URL", "mqtts://host?x=y"),
        ("BOOKPLATE_APPLE_JWKS_URL", "file:///etc"),
        ("BOOKPLATE_OPENAI_URL", "nowhere"),
        ("BOOKPLATE_SOURCE_BUDGETS", "isbndb"), ("BOOKPLATE_SOURCE_BUDGETS", "isbndb=0"),
        ("BOOKPLATE_SOURCE_BUDGETS", "isbndb=-1"), ("BOOKPLATE_SOURCE_BUDGETS", "isbndb=+5"),
        ("BOOKPLATE_SOURCE_BUDGETS", "isbndb=1000000001"),
        ("BOOKPLATE_SOURCE_BUDGETS", "isbndb=5=6"), ("BOOKPLATE_SOURCE_BUDGETS", "isbndb=1.5"),
        ("BOOKPLATE_SOURCE_BUDGETS", "goodreads=5"),
        ("BOOKPLATE_SOURCE_BUDGETS", "isbndb=5,isbndb=6"),
    ])
    func reportsTheInvalidVariable(name: String, value: String) throws {
        let error = #expect(throws: ConfigError.self) { try Configuration([name: value]) }
        #expect(error?.name == name)
        #expect(error?.description.contains("\n") == false)
    }

    @Test(arguments: [
        ("depth=0", "depth must be a whole number from 1 to 1000000000"),
        ("fields=20,body=1000000001", "body must be a whole number from 1 to 1000000000"),
        ("batch=-1", "batch must be a whole number from 0 to 1000000000"),
        ("rate=many", "rate must be a whole number from 0 to 1000000000"),
        ("body=99999999999999999999", "body must be a whole number from 1 to 1000000000"),
        ("depth", "each entry must be NAME=NUMBER, like depth=15"),
        ("depth=1=2", "each entry must be NAME=NUMBER, like depth=15"),
    ])
    func reportsTheRangeOfALimit(limits: String, reason: String) {
        let error = #expect(throws: ConfigError.self) {
            try Configuration(["BOOKPLATE_LIMITS": limits])
        }
        #expect(error?.reason.hasSuffix("; " + reason) == true, "\(error?.reason ?? "")")
    }

    @Test func parsesBrokerAddresses() throws {
        let plain = try Configuration(["BOOKPLATE_MQTT_URL": "mqtt://broker"]).sources.broker
        #expect(plain == .init(host: "broker", port: 1883, isEncrypted: false))
        let whole = try Configuration([
            "BOOKPLATE_MQTT_URL": "mqtts://book%40plate:p%3Aa:s%2Fs@[::1]:99/?ca=/etc/ca%20s.pem"
        ]).sources.broker
        #expect(
            whole
                == .init(
                    host: "::1", port: 99, isEncrypted: true, user: "book@plate",
                    password: "p:a:s/s",
                    certificatesFile: "/etc/ca s.pem"))
    }

    @Test func omitsTheBrokerPasswordFromErrors() {
        let error = #expect(throws: ConfigError.self) {
            try Configuration(["BOOKPLATE_MQTT_URL": "mqtt://user:secret@host:many"])
        }
        #expect(error?.description.contains("secret") == false)
    }

    @Test func omitsSecretsFromErrors() {
        let error = #expect(throws: ConfigError.self) {
            try Configuration(["DATABASE_URL": "secret"])
        }
        #expect(error?.description.contains("secret") == false)
    }

    @Test func readsEveryValue() throws {
        let configuration = try Configuration([
            "DATABASE_URL": "postgresql:///books", "BOOKPLATE_ADMIN_DATABASE_URL": "dbname=books",
            "BOOKPLATE_HOST": "::1", "BOOKPLATE_PORT": "0",
            "BOOKPLATE_PUBLIC_URL": "https://books.example/",
            "BOOKPLATE_LIMITS": "depth=3, body=100,rate=0",
            "BOOKPLATE_FETCH_ALLOW": "10.0.0.0/8, covers.local", "BOOKPLATE_EXPLORER": "off",
            "BOOKPLATE_INCREMENTAL": "on", "BOOKPLATE_ON_ERROR": "on",
            "BOOKPLATE_OPENAI_URL": "", "BOOKPLATE_MQTT_URL": "mqtt://broker:1883",
            "BOOKPLATE_STORAGE": "file:/srv/covers",
            "BOOKPLATE_APPLE_ISSUER": "http://127.0.0.1:9",
        ])
        #expect(try configuration.database.required() == "postgresql:///books")
        #expect(try configuration.database.adminRequired() == "dbname=books")
        #expect(configuration.publicURL == "https://books.example")
        #expect(configuration.limits.selectionDepthMax == 3)
        #expect(configuration.limits.bodyBytesMax == 100)
        #expect(configuration.limits.requestsPerMinuteMax == 0)
        #expect(configuration.limits.aliasesMax == Configuration.Limits().aliasesMax)
        #expect(configuration.sources.fetchAllow == ["10.0.0.0/8", "covers.local"])
        #expect(configuration.sources.openAIURL == nil)
        #expect(!configuration.explorer && configuration.incremental && configuration.onError)
        #expect(configuration.identity.appleIssuers == ["http://127.0.0.1:9"])
        #expect(configuration.storage == .folder("/srv/covers"))
    }

    /// Sources that are not listed keep their defaults.
    @Test(
        arguments: [
            (nil, [.isbnDB: 500, .googleBooks: 1000, .webSearch: 1000]),
            ("isbndb=5000", [.isbnDB: 5000, .googleBooks: 1000, .webSearch: 1000]),
            (
                "google-books=unlimited, web-search=off, open-library=20000,open-library-covers=1",
                [.isbnDB: 500, .openLibrary: 20000, .openLibraryCovers: 1]
            ),
        ] as [(String?, [Configuration.SourceBudgets.Source: Int])])
    func readsSourceBudgets(
        text: String?, budgets: [Configuration.SourceBudgets.Source: Int]
    ) throws {
        var variables: [String: String] = [:]
        variables["BOOKPLATE_SOURCE_BUDGETS"] = text
        #expect(try Configuration(variables).sources.budgets.requestsPerDay == budgets)
    }

    @Test func reportsTheInvalidBudgetAndTheAllowedRange() {
        let error = #expect(throws: ConfigError.self) {
            try Configuration(["BOOKPLATE_SOURCE_BUDGETS": "google-books=5,isbndb=0"])
        }
        #expect(error?.reason.contains("'isbndb=0'") == true)
        #expect(error?.reason.contains("from 1 to 1000000000, or unlimited") == true)
    }

    /// `rates` are the limits on requests per user, requests per address, sign-ins, refreshes, and guests per address and tenant.
    @Test(
        arguments: [
            // In development there are no rate limits unless a rate is set.
            ("development", nil, [0, 0, 0, 0, 0, 0]),
            ("development", "depth=5", [0, 0, 0, 0, 0, 0]),
            ("development", "rate=5", [5, 50, 30, 150, 10, 300]),
            ("production", nil, [600, 6000, 30, 150, 10, 300]),
            ("production", "rate=0", [0, 0, 0, 0, 0, 0]),
            ("production", "rate=0,signin=5", [0, 0, 5, 0, 0, 0]),
            ("production", "guest=3,tenant-guest=0", [600, 6000, 30, 150, 3, 0]),
            ("production", "rate=100,address=7,signin=0,refresh=1", [100, 7, 0, 1, 10, 300]),
            ("production", "address=0", [600, 0, 30, 150, 10, 300]),
        ] as [(String, String?, [Int])])
    func readsRates(environment: String, limits: String?, rates: [Int]) throws {
        var variables = ["BOOKPLATE_ENV": environment]
        variables["BOOKPLATE_LIMITS"] = limits
        let found = try Configuration(variables).limits
        #expect(
            [
                found.requestsPerMinuteMax, found.addressRequestsPerMinuteMax,
                found.signInsPerMinuteMax, found.refreshesPerMinuteMax,
                found.guestsPerMinuteMax, found.tenantGuestsPerMinuteMax,
            ] == rates)
    }

    @Test func readsTheShareOfMemory() throws {
        #expect(try Configuration([:]).limits.memoryPercentMax == 80)
        let changed = try Configuration(["BOOKPLATE_LIMITS": "memory=90"])
        #expect(changed.limits.memoryPercentMax == 90)
    }

    /// `bytes` are the limits of a response, of an address, and of the process. nil means that the setting is invalid.
    @Test(
        arguments: [
            (nil, [8 << 20, 64 << 20, 256 << 20]), ("response=1000", [1000, 64 << 20, 256 << 20]),
            ("response=1000,unread=2000,unread-total=3000", [1000, 2000, 3000]),
            // A larger limit raises the defaults of the limits that contain it.
            ("response=100000000", [100_000_000, 200_000_000, 400_000_000]),
            ("unread=500000000", [8 << 20, 500_000_000, 1_000_000_000]),
            ("unread=1000", nil), ("unread-total=1000", nil), ("response=0", nil),
            ("response=300000000,unread-total=200000000", nil),
        ] as [(String?, [Int]?)])
    func readsResponseLimits(limits: String?, bytes: [Int]?) throws {
        var variables: [String: String] = [:]
        variables["BOOKPLATE_LIMITS"] = limits
        guard let bytes else {
            let error = #expect(throws: ConfigError.self) { try Configuration(variables) }
            #expect(error?.name == "BOOKPLATE_LIMITS")
            return
        }
        let found = try Configuration(variables).limits
        #expect(
            [found.responseBytesMax, found.unreadBytesPerAddressMax, found.unreadBytesMax] == bytes)
    }

    @Test(arguments: [
        ("10.0.0.1", true), ("10.0.0.0/8, ::1, fd00::/8", true), ("0.0.0.0/0", true),
        ("10.0.0.0/33", false), ("proxy.local", false), ("10.0.0.0/", false), ("/8", false),
        ("10.0.0.1/8/8", false), ("fd00::/129", false), ("10.0.0.0/-1", false),
    ])
    func readsTrustedProxies(text: String, isValid: Bool) throws {
        let variables = ["BOOKPLATE_TRUSTED_PROXIES": text]
        if isValid {
            #expect(try !Configuration(variables).trustedProxies.isEmpty)
        } else {
            #expect(throws: ConfigError.self) { try Configuration(variables) }
        }
    }

    @Test func requiresAllPartsOfAnAppleKey() {
        let error = #expect(throws: ConfigError.self) {
            try Configuration(["BOOKPLATE_APPLE_KEY_FILE": "key.p8"])
        }
        #expect(error?.name == "BOOKPLATE_APPLE_KEY_ID")
    }

    @Test func requiresTheDatabaseOnlyWhenItIsUsed() throws {
        let database = try Configuration([:]).database
        #expect(throws: ConfigError.self) { try database.required() }
        #expect(throws: ConfigError.self) { try database.adminRequired() }
    }
}
