/// The address of an MQTT broker and the credentials for it.
package struct BrokerAddress: Sendable {
    package var host: String
    package var port: Int
    package var isEncrypted: Bool
    package var user: String?
    package var password: String?
    /// A PEM file with the certificate authorities to trust; nil for those of the system.
    package var certificatesFile: String?

    package init(
        host: String, port: Int, isEncrypted: Bool = false, user: String? = nil,
        password: String? = nil, certificatesFile: String? = nil
    ) {
        self.host = host
        self.port = port
        self.isEncrypted = isEncrypted
        self.user = user
        self.password = password
        self.certificatesFile = certificatesFile
    }
}

/// Prints the address without the credentials.
extension BrokerAddress: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "\(isEncrypted ? "mqtts" : "mqtt")://\(host):\(port)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// An error of a connection to a broker.
package enum BrokerError: Error, Equatable, CustomStringConvertible {
    /// The broker cannot be reached, or its certificate is not trusted.
    case unreachable(String)
    /// The broker rejected the connection, most likely because of the credentials.
    case refused(String)
    /// The connection was lost. Messages that were not acknowledged may or may not have arrived.
    case connectionLost
    /// The broker did not respond within the timeout.
    case timeout
    /// MQTT cannot represent the message: its topic is invalid or its payload is too large.
    case invalidMessage(String)

    package var description: String {
        switch self {
        case .unreachable(let reason): "the broker cannot be reached: \(reason)"
        case .refused(let reason): "the broker rejected the connection: \(reason)"
        case .connectionLost: "the connection to the broker was lost"
        case .timeout: "the broker did not respond in time"
        case .invalidMessage(let reason): "the message cannot be sent: \(reason)"
        }
    }
}
