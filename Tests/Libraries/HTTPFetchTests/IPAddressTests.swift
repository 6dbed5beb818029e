import Testing

@testable import HTTPFetch

@Suite struct IPAddressTests {
    @Test(arguments: [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255",
        "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1", "172.31.255.255",
        "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.1", "192.168.255.255", "198.18.0.1",
        "198.19.255.255", "198.51.100.7", "203.0.113.7", "224.0.0.1", "239.255.255.255",
        "240.0.0.1", "255.255.255.255",
        "::", "::1", "::7f00:1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:8.8.8.8",
        "::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::8.8.8.8", "64:ff9b:1::1",
        "100::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:10::1", "2001:20::1",
        "2001:db8::1", "2002:7f00:1::", "2002:a00:1::1", "3fff::1", "3ffe::1", "4000::1",
        "5f00::1", "fc00::1", "fd00::1", "fdff:ffff::1", "fe80::1", "febf::1", "fec0::1",
        "ff02::1", "ff0e::1",
    ])
    func isNotPublic(text: String) throws {
        #expect(try #require(IPAddress(text)).isPublic == false)
    }

    @Test(arguments: [
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1",
        "126.255.255.255", "128.0.0.1", "169.253.255.255", "172.15.255.255", "172.32.0.1",
        "192.0.1.1", "192.167.255.255", "192.169.0.1", "198.17.255.255", "198.20.0.1",
        "223.255.255.255", "2606:4700:4700::1111", "2001:4860:4860::8888", "2a00:1450:4001::1",
        "2001:200::1",
    ])
    func isPublic(text: String) throws {
        #expect(try #require(IPAddress(text)).isPublic)
    }

    @Test(arguments: [
        "", "localhost", "1.2.3", "1.2.3.4.5", "256.1.1.1", "0x7f.0.0.1", "017700000001",
        "2130706433", "01.2.3.4", "fe80::1%eth0", "1:2:3", ":::", "[::1", "1.2.3.4 ",
    ])
    func rejectsOtherText(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test func constantsAllParse() {
        #expect(IPNetwork.notPublicV4.count == 16)
        #expect(IPNetwork.notPublicV6.count == 5)
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.9.8.7", true), ("10.0.0.0/8", "11.0.0.0", false),
        ("10.1.2.3/32", "10.1.2.3", true), ("10.1.2.3/32", "10.1.2.2", false),
        ("10.1.2.3", "10.1.2.3", true), ("0.0.0.0/0", "8.8.8.8", true),
        ("0.0.0.0/0", "::1", false), ("192.168.4.0/22", "192.168.7.255", true),
        ("192.168.4.0/22", "192.168.8.0", false), ("fd00::/8", "fdab::1", true),
        ("fd00::/8", "fe00::1", false), ("127.0.0.0/8", "::ffff:127.0.0.1", false),
    ])
    func networkContains(network: String, address: String, expected: Bool) throws {
        let network = try #require(IPNetwork(network))
        #expect(network.contains(try #require(IPAddress(address))) == expected)
    }

    @Test(arguments: [
        "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/8/8", "::/129", "/8", "10.0.0.0/+8",
    ])
    func rejectsInvalidNetworks(text: String) {
        #expect(IPNetwork(text) == nil)
    }
}

@Suite struct FetchPolicyTests {
    @Test(arguments: [
        // Public addresses are permitted on ports 80 and 443 only.
        ("", "8.8.8.8", UInt16(443), "example.com", true), ("", "8.8.8.8", 80, "example.com", true),
        ("", "8.8.8.8", 22, "example.com", false), ("", "8.8.8.8", 6379, "example.com", false),
        // A host name that resolves to a private address.
        ("", "127.0.0.1", 80, "example.com", false),
        ("", "169.254.169.254", 80, "example.com", false),
        // The allow-list permits hosts and networks on any port.
        ("localhost", "127.0.0.1", 8080, "localhost", true),
        ("LOCALHOST", "127.0.0.1", 8080, "localhost", true),
        ("localhost", "127.0.0.1", 8080, "localhost.example.com", false),
        ("localhost", "127.0.0.1", 8080, "example.com", false),
        ("127.0.0.0/8", "127.0.0.1", 8080, "example.com", true),
        ("10.0.0.0/8, ::1", "::1", 9, "example.com", true),
        ("10.0.0.0/8", "127.0.0.1", 80, "10.0.0.1", false),
    ])
    func permits(
        allow: String, address: String, port: UInt16, host: String, expected: Bool
    ) throws {
        let policy = FetchPolicy(userAgent: "test", allowed: try FetchAllowList(parsing: allow))
        let address = try #require(IPAddress(address))
        #expect(policy.permits(address, port: port, host: host) == expected)
    }

    @Test(arguments: ["10.0.0.0/64", "1.2.3", "a b", "http://x", "x:80", "*.example.com", "12"])
    func rejectsInvalidEntries(text: String) {
        #expect(throws: FetchAllowList.InvalidEntry(text: text)) {
            try FetchAllowList(parsing: "localhost, \(text)")
        }
    }
}
