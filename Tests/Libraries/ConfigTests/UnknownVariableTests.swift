import Testing

@testable import Config

/// Variables that start with `BOOKPLATE_` but are not settings.
@Suite struct UnknownVariableTests {
    @Test(
        arguments: [
            ("BOOKPLATE_PROT", "BOOKPLATE_PORT"),
            ("BOOKPLATE_INTROSPECTOIN", "BOOKPLATE_INTROSPECTION"),
            ("BOOKPLATE_LOGLEVEL", "BOOKPLATE_LOG_LEVEL"),
            ("BOOKPLATE_DATABASE_URL", "DATABASE_URL"),
            ("BOOKPLATE_NONSENSE", nil), ("BOOKPLATE_", nil),
        ] as [(String, String?)])
    func areReportedWithTheMostSimilarName(name: String, suggestion: String?) throws {
        let unknown = try Configuration([name: "x"]).unknownVariables
        #expect(unknown.map(\.name) == [name])
        #expect(unknown.first?.suggestion == suggestion)
        #expect(
            unknown.first?.description
                == "\(name) is not a known variable and is ignored."
                + (suggestion.map { " Did you mean \($0)?" } ?? ""))
    }

    @Test func areSortedByName() throws {
        let configuration = try Configuration([
            "BOOKPLATE_Z": "1", "BOOKPLATE_A": "2", "BOOKPLATE_TEST_DATABASE_URL": "x",
            "BOOKPLATE_PORT": "81", "OTHER": "y",
        ])
        #expect(configuration.unknownVariables.map(\.name) == ["BOOKPLATE_A", "BOOKPLATE_Z"])
        #expect(configuration.port == 81)
    }

    /// The variables that Kubernetes adds for Services named `bookplate` and `bookplate-web`.
    private static let serviceLinks = [
        "BOOKPLATE_SERVICE_HOST": "10.0.0.1", "BOOKPLATE_SERVICE_PORT": "8080",
        "BOOKPLATE_SERVICE_PORT_HTTP": "8080", "BOOKPLATE_PORT": "tcp://10.0.0.1:8080",
        "BOOKPLATE_PORT_8080_TCP": "tcp://10.0.0.1:8080",
        "BOOKPLATE_PORT_8080_TCP_ADDR": "10.0.0.1", "BOOKPLATE_PORT_8080_TCP_PORT": "8080",
        "BOOKPLATE_PORT_8080_TCP_PROTO": "tcp", "BOOKPLATE_PORT_53_UDP": "udp://10.0.0.1:53",
        "BOOKPLATE_PORT_9_SCTP_PROTO": "sctp", "BOOKPLATE_WEB_SERVICE_HOST": "10.0.0.2",
        "BOOKPLATE_WEB_PORT": "udp://10.0.0.2:80", "BOOKPLATE_WEB_PORT_80_UDP_ADDR": "10.0.0.2",
    ]

    @Test func fromKubernetesDoNotChangeSettings() throws {
        let alone = try Configuration(Configuration.merged(Self.serviceLinks, over: [:]))
        #expect(alone.unknownVariables == [])
        #expect(alone.port == 8080)
        let beside = try Configuration(
            Configuration.merged(Self.serviceLinks, over: ["BOOKPLATE_PORT": "81"]))
        #expect(beside.port == 81)
    }

    @Test(arguments: [
        ("BOOKPLATE_PORT", "8081"), ("BOOKPLATE_PORT", "http://10.0.0.1:80"),
        ("BOOKPLATE_HOST", "10.0.0.1"), ("BOOKPLATE_PORT_X_TCP", "1"),
        ("BOOKPLATE_8080_TCP", "1"), ("BOOKPLATE_SERVICE", "1"), ("OTHER_SERVICE_HOST", "a"),
    ])
    func areDistinguishedFromServiceLinks(name: String, value: String) {
        #expect(Configuration.merged([name: value], over: [name: "file"]) == [name: value])
    }

    /// A port that is neither a number nor a service link is reported as an error.
    @Test func doNotHideAnInvalidPort() {
        let error = #expect(throws: ConfigError.self) {
            try Configuration(
                Configuration.merged(["BOOKPLATE_PORT": "http://10.0.0.1"], over: [:]))
        }
        #expect(error?.name == "BOOKPLATE_PORT")
    }
}
