/// Where a broker is and who we are to it.
package struct BrokerAddress: Sendable {
    package var host: String
    package var port: Int
    package var isEncrypted: Bool
    package var user: String?
    package var password: String?
    /// Certificates that vouch for the broker's; nil for the system's. A file in PEM form.
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

/// Without the credentials, for the log.
extension BrokerAddress: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "\(isEncrypted ? "mqtts" : "mqtt")://\(host):\(port)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Why a broker does not take our messages.
package enum BrokerError: Error, Equatable, CustomStringConvertible {
    /// It cannot be reached, or its certificate is not good.
    case unreachable(String)
    /// It refuses us: credentials, most likely.
    case refused(String)
    /// The connection was lost; what was not acknowledged may have arrived or not.
    case connectionLost
    /// It does not answer in time.
    case timeout
    /// A message that MQTT cannot carry.
    case invalidMessage(String)

    package var description: String {
        switch self {
        case .unreachable(let reason): "the broker cannot be reached: \(reason)"
        case .refused(let reason): "the broker refuses the connection: \(reason)"
        case .connectionLost: "the connection to the broker was lost"
        case .timeout: "the broker does not answer"
        case .invalidMessage(let reason): "the message cannot be sent: \(reason)"
        }
    }
}
