import CCrypto
import FoundationEssentials
import Glibc
import Synchronization

/// Returns cryptographically secure random bytes.
package func randomBytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let done = RAND_bytes(&bytes, Int32(count))
    // Without randomness no key, token, or identifier is safe, so the process must stop.
    precondition(done == 1, "the operating system provides no random bytes")
    return bytes
}

extension UUID {
    /// Returns a version 7 UUID: Unix milliseconds, a 12-bit counter, and 62 random bits.
    ///
    /// The identifiers of one process ascend in the order of creation, even if the clock steps back.
    ///
    /// Spec: https://www.rfc-editor.org/rfc/rfc9562#section-5.7, section 6.2 method 1
    package static func v7() -> UUID {
        v7Clock.withLock { $0.next(milliseconds: unixMilliseconds(), random: randomBytes(10)) }
    }

    private static let v7Clock = Mutex(UUIDv7Clock())
}

/// Generates version 7 UUIDs in ascending order. The caller supplies the time and the random bytes.
///
/// State: the timestamp and the counter of the last identifier. A later time resets the counter to a
/// random value below 2048, half of its range. The same or an earlier time increments the counter, and an
/// overflow of the counter advances the timestamp by one millisecond.
struct UUIDv7Clock: Sendable {
    private var milliseconds: UInt64 = 0
    private var counter: UInt16 = 0

    /// Returns the next identifier.
    ///
    /// - Parameters:
    ///   - now: The Unix time in milliseconds.
    ///   - random: Ten random bytes.
    mutating func next(milliseconds now: UInt64, random: [UInt8]) -> UUID {
        if now > milliseconds {
            milliseconds = now
            // The upper half of the counter's range is left free for increments.
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

/// Seconds since the Unix epoch, as in the claims of tokens.
package typealias UnixSeconds = Int64

/// Returns the system's current time.
package func unixSecondsNow() -> UnixSeconds {
    Int64(unixMilliseconds() / 1000)
}

private func unixMilliseconds() -> UInt64 {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return UInt64(max(0, now.tv_sec)) * 1000 + UInt64(now.tv_nsec) / 1_000_000
}
