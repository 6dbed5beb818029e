import Glibc
import NIOCore

/// The server cannot listen on the configured address.
package struct ListenError: Error, CustomStringConvertible {
    /// One line for the operator, with the address.
    package let description: String

    init(host: String, port: Int, _ error: any Error) {
        let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) }
        description = "cannot listen on \(host) port \(port): \(reason ?? "\(error)")"
    }
}
