import Basics
import TestBasics
import TestSupport
import Testing

@testable import Bookplate

/// Cursors and tokens are opaque to clients, which can nevertheless send any text.
@Suite struct OpaqueTextTests {
    /// Many of the texts have the size and the first byte of real ones. A text that is accepted is one that the server writes.
    @Test func randomBytesAreRefusedOrReadCompletely() {
        var random = SeededGenerator(12)
        var accepted = (cursors: 0, tickets: 0)
        for _ in 0..<5000 {
            let count = [Int.random(in: 0...100, using: &random), 25, 80].randomElement(
                using: &random)
            var bytes = (0..<(count ?? 0)).map { _ in UInt8.random(in: 0...255, using: &random) }
            if count == 25 {
                bytes[0] = 7
                // Most random times are after the year 10000, which no cursor contains.
                bytes[17] = 0
            }
            let text = Base64URL.encode(bytes)
            if let cursor = FeedCursor(text) {
                accepted.cursors += 1
                #expect(cursor.text == text)
            }
            if let ticket = RefreshTicket("bpr_" + text) {
                accepted.tickets += 1
                #expect(ticket.text == "bpr_" + text)
            }
        }
        #expect(accepted.cursors > 100)
        #expect(accepted.tickets > 1000)
    }
}
