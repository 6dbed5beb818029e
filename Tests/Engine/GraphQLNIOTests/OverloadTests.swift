import NIOCore
import NIOEmbedded
import Testing

@testable import GraphQLNIO

/// Limits of the whole server.
@Suite struct OverloadTests {
    /// A channel that has negotiated a protocol is active before it gets its handlers.
    @Test(arguments: [true, false])
    func aConnectionOverTheLimitIsRefused(isActiveBefore: Bool) throws {
        let channel = EmbeddedChannel()
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
        if isActiveBefore { try channel.connect(to: address).wait() }
        try channel.pipeline.syncOperations.addHandler(OverloadHandler())
        if !isActiveBefore { try channel.connect(to: address).wait() }
        let response = try #require(try channel.readOutbound(as: ByteBuffer.self))
        #expect(String(buffer: response).hasPrefix("HTTP/1.1 503 "))
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
        channel.embeddedEventLoop.advanceTime(by: .seconds(2))
        #expect(!channel.isActive)
    }

    @Test(arguments: [
        (0, 64 << 20, 256 << 20), (16 << 20, 128 << 20, 256 << 20),
        (64 << 20, 512 << 20, 512 << 20),
    ])
    func unreadLimitsFitTheLargestResponse(responseMax: Int, addressMax: Int, processMax: Int) {
        var limits = UnreadBytes.Limits()
        limits.fit(responseBytesMax: responseMax)
        #expect(limits.responseMax == responseMax)
        #expect(limits.addressMax == addressMax)
        #expect(limits.processMax == processMax)
    }

    @Test func aResponseWithoutALimitIsNotRefused() {
        var limits = UnreadBytes.Limits()
        limits.fit(responseBytesMax: .max)
        let unread = UnreadBytes(limits)
        unread.add(1, for: nil)
        #expect(unread.refusal(for: nil) == nil)
    }
}
