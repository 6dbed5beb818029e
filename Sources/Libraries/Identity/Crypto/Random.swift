import CCrypto
import Glibc

/// Returns cryptographically secure random bytes.
package func randomBytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let done = RAND_bytes(&bytes, Int32(count))
    // Without randomness no key, token, or identifier is safe, so the process must stop.
    precondition(done == 1, "the operating system provides no random bytes")
    return bytes
}

/// Seconds since the Unix epoch, as in the claims of tokens.
package typealias UnixSeconds = Int64

/// Returns the system's current time.
package func unixSecondsNow() -> UnixSeconds {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Int64(max(0, now.tv_sec))
}
