import CCrypto
import FoundationEssentials
import Glibc
import Synchronization

/// Unpredictable bytes from the operating system by way of libcrypto.
package func randomBytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let done = RAND_bytes(&bytes, Int32(count))
    // A system without randomness cannot make a key, a token or an id: nothing safe is left to do.
    precondition(done == 1, "the operating system gives no random bytes")
    return bytes
}

extension UUID {
    /// A version 7 id: Unix milliseconds, a counter within the millisecond, 62 random bits.
    ///
    /// Ids of one process ascend in the order they were made, also when the clock steps back.
    ///
    /// Spec: https://www.rfc-editor.org/rfc/rfc9562#section-5.7, section 6.2 method 1
    package static func v7() -> UUID {
        v7Clock.withLock { $0.next(milliseconds: unixMilliseconds(), random: randomBytes(10)) }
    }

    private static let v7Clock = Mutex(UUIDv7Clock())
}

/// What the last version 7 id said about time. Pure: the clock and the random bytes are given.
struct UUIDv7Clock: Sendable {
    private var milliseconds: UInt64 = 0
    private var counter: UInt16 = 0

    /// - Parameter random: ten bytes.
    mutating func next(milliseconds now: UInt64, random: [UInt8]) -> UUID {
        if now > milliseconds {
            milliseconds = now
            // Half of the counter's room stays free to count in.
            counter = (UInt16(random[8]) << 8 | UInt16(random[9])) & 0x7FF
        } else if counter < 0xFFF {
            counter += 1
        } else {
            milliseconds += 1
            counter = 0
        }
        func byte(_ shift: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: milliseconds >> shift) }
        return UUID(
            uuid: (
                byte(40), byte(32), byte(24), byte(16), byte(8), byte(0),
                0x70 | UInt8(counter >> 8), UInt8(counter & 0xFF),
                0x80 | random[0] & 0x3F, random[1], random[2], random[3],
                random[4], random[5], random[6], random[7]
            ))
    }
}

/// Seconds since 1970, as tokens carry them.
package typealias UnixSeconds = Int64

/// The system's clock.
package func unixSecondsNow() -> UnixSeconds {
    Int64(unixMilliseconds() / 1000)
}

private func unixMilliseconds() -> UInt64 {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return UInt64(max(0, now.tv_sec)) * 1000 + UInt64(now.tv_nsec) / 1_000_000
}
