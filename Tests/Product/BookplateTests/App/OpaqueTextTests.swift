import Basics
import TestSupport
import Testing

@testable import Bookplate

/// Cursors and tokens are opaque to clients, which can nevertheless send any text.
@Suite struct OpaqueTextTests {
    @Test func randomBytesDoNotTrap() {
        var random = SeededGenerator(12)
        for _ in 0..<5000 {
            let bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            _ = FeedCursor(Base64URL.encode(bytes))
            _ = RefreshTicket("bpr_" + Base64URL.encode(bytes))
        }
    }
}
