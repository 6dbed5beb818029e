import GraphQLServing
import NIOCore
import Testing

@testable import GraphQLNIO

/// The client of a request is the peer, unless the peer is a trusted proxy.
@Suite struct ClientAddressTests {
    private func address(_ text: String) throws -> ClientAddress {
        try #require(ClientAddress(text))
    }

    @Test(
        arguments: [
            (nil, "203.0.113.9", nil, "203.0.113.9"),
            // By default no proxy is trusted.
            (nil, "10.0.0.1", "198.51.100.7", "10.0.0.1"),
            ("10.0.0.0/8", "203.0.113.9", "198.51.100.7", "203.0.113.9"),
            ("10.0.0.0/8", "10.0.0.1", "198.51.100.7", "198.51.100.7"),
            ("10.0.0.0/8", "10.0.0.1", nil, "10.0.0.1"),
            ("10.0.0.0/8", "10.0.0.1", "", "10.0.0.1"),
            // Entries that the client has forged come before the one that the proxy has added.
            ("10.0.0.0/8", "10.0.0.1", "1.1.1.1, 198.51.100.7", "198.51.100.7"),
            ("10.0.0.0/8", "10.0.0.1", "1.1.1.1,198.51.100.7 ,10.2.3.4", "198.51.100.7"),
            ("10.0.0.0/8", "10.0.0.1", "10.9.9.9, 10.2.3.4", "10.9.9.9"),
            // An invalid entry ends the chain.
            ("10.0.0.0/8", "10.0.0.1", "unknown, 10.2.3.4", "10.2.3.4"),
            ("10.0.0.0/8", "10.0.0.1", "198.51.100.7, x", "10.0.0.1"),
            ("10.0.0.0/8", "10.0.0.1", "198.51.100.7:4711", "198.51.100.7"),
            ("10.0.0.0/8,fd00::/8", "10.0.0.1", "2001:db8::1, [fd00::2]", "2001:db8::1"),
            ("10.0.0.0/8", "10.0.0.1", "[2001:db8::1]:443", "2001:db8::1"),
            ("::1", "::1", "198.51.100.7", "198.51.100.7"),
            ("0.0.0.0/0", "203.0.113.9", "198.51.100.7", "198.51.100.7"),
            ("::/0", "2001:db8::1", "2001:db8::2", "2001:db8::2"),
            // An IPv4 peer of a dual-stack socket.
            ("10.0.0.0/8", "::ffff:10.0.0.1", "198.51.100.7", "198.51.100.7"),
            ("2001:db8:0:1::/64", "2001:db8:0:1::5", "198.51.100.7", "198.51.100.7"),
            ("2001:db8:0:1::/64", "2001:db8:0:2::5", "198.51.100.7", "2001:db8:0:2::5"),
        ] as [(String?, String, String?, String)])
    func onlyTrustedProxiesAreBelieved(
        trusted: String?, peer: String, forwardedFor: String?, client: String
    ) throws {
        let proxies = try TrustedProxies(trusted?.split(separator: ",").map(String.init) ?? [])
        #expect(
            proxies.client(of: try address(peer), forwardedFor: forwardedFor)
                == (try address(client)))
    }

    @Test(arguments: [
        "", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/8/8", "10.0.0.0/-1", "[::1]",
        "10.0.0.1:80",
        " 10.0.0.1", "localhost",
    ])
    func invalidNetworksAreErrors(text: String) {
        let error = #expect(throws: TrustedProxies.InvalidNetwork.self) {
            try TrustedProxies(["10.0.0.0/8", text])
        }
        #expect(error?.text == text)
    }

    @Test func longChainsAreNotFollowed() throws {
        let proxies = try TrustedProxies(["10.0.0.0/8"])
        let chain = "198.51.100.7" + String(repeating: ",10.0.0.2", count: 100_000)
        #expect(
            proxies.client(of: try address("10.0.0.1"), forwardedFor: chain)
                == (try address("10.0.0.2")))
    }

    @Test(arguments: ["", " ", "1.2.3", "1.2.3.4.5", "g::1", "[::1", "1.2.3.4:x", "localhost"])
    func invalidAddressesAreRefused(text: String) {
        #expect(ClientAddress(text) == nil)
    }

    @Test func socketAddressesAreConverted() throws {
        #expect(
            ClientAddress(try SocketAddress(ipAddress: "192.0.2.1", port: 1))
                == (try address("192.0.2.1")))
        #expect(
            ClientAddress(try SocketAddress(ipAddress: "2001:db8::1", port: 1))
                == (try address("2001:db8::1")))
        #expect(ClientAddress(try SocketAddress(unixDomainSocketPath: "/tmp/x")) == nil)
    }

    @Test func severalHeadersAreJoined() throws {
        var headers = RequestHeaders()
        for (name, value) in [
            ("X-Forwarded-For", "1.1.1.1"), ("x-forwarded-for", "198.51.100.7"),
        ] {
            try headers.add(name: Array(name.utf8).span, value: Array(value.utf8).span)
        }
        #expect(headers.forwardedFor == "1.1.1.1, 198.51.100.7")
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("2001:db8:0::1", "2001:db8::1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
    ])
    func textIsTheShortestForm(entry: String, text: String) throws {
        let parsed = try address(entry)
        #expect(parsed.text == text)
    }
}
