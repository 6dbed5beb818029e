import Testing

@testable import Postgres

@Suite struct HostOrderTests {
    private func texts(_ order: HostOrder) -> [String] {
        order.settings.map { "\($0.key)=\($0.value)" }
    }

    @Test func theHostThatAnsweredIsFirstAndALostOneIsLast() throws {
        var order = try #require(HostOrder("postgresql://a:1,b:2,c:3/x?user=u"))
        #expect(texts(order) == ["host=a,b,c", "port=1,2,3"])
        let answered = try #require(order.index(name: "c", port: "3"))
        order.answered(answered)
        #expect(texts(order) == ["host=c,a,b", "port=3,1,2"])
        order.lost(answered)
        #expect(texts(order) == ["host=a,b,c", "port=1,2,3"])
        order.lost(try #require(order.index(name: "a", port: "1")))
        #expect(texts(order) == ["host=b,c,a", "port=2,3,1"])
        #expect(order.index(name: "a", port: "2") == nil)
    }

    @Test func addressesAndASinglePortAreKept() throws {
        var order = try #require(
            HostOrder("host=one,two hostaddr=127.0.0.1,127.0.0.2 port=6000"))
        order.lost(0)
        #expect(texts(order) == ["host=two,one", "hostaddr=127.0.0.2,127.0.0.1", "port=6000,6000"])
    }

    @Test(arguments: [
        "postgresql://a/x", "host=/tmp", "dbname=x", "host=a,b port=1,2,3", "not a URL",
    ])
    func connectionStringsWithOneHostAreLeftToLibpq(url: String) {
        #expect(HostOrder(url) == nil)
    }

    /// The first host refuses connections, and the second one answers.
    @Test func connectionsRememberTheHostThatAnswered() throws {
        let database = try TestDatabase()
        var url = try ConnectionString(database.url)
        let socket = try #require(url["host"])
        url["host"] = "/nowhere,\(socket)"
        #expect(HostOrder.settings(of: url.description).first?.value == "/nowhere,\(socket)")
        _ = try AdminConnection(url.description)
        #expect(HostOrder.settings(of: url.description).first?.value == "\(socket),/nowhere")
    }
}
