import Basics
import TestSupport
import Testing

@testable import Bookplate

/// Texts that clients must not interpret, but can send in any form.
@Suite struct OpaqueTextTests {
    @Test func randomBytesDoNotTrap() {
        var random = Seeded(12)
        for _ in 0..<5000 {
            let bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            _ = FeedPosition(cursor: Base64URL.encode(bytes))
            _ = RefreshTicket("bpr_" + Base64URL.encode(bytes))
        }
    }
}
