extension Configuration {
    /// The environment variables that systemd sets for a service with `Type=notify`.
    /// See `sd_notify(3)` and `sd_watchdog_enabled(3)`.
    package struct ServiceManager: Sendable, Equatable {
        /// The path of the socket to which the service reports its state. The first character of an abstract socket is `@`.
        package var socket: String
        /// The time after which the service manager kills a process that has not reported that it works; nil for never.
        package var watchdogMicroseconds: Int64?

        /// Returns nil if the process was started in another way. Malformed values are ignored, because systemd sets them,
        /// not the operator.
        init?(_ variables: [String: String]) {
            guard let socket = variables["NOTIFY_SOCKET"],
                socket.hasPrefix("/") || socket.hasPrefix("@")
            else { return nil }
            self.socket = socket
            watchdogMicroseconds = variables["WATCHDOG_USEC"].flatMap(Int64.init).flatMap {
                $0 > 0 ? $0 : nil
            }
        }
    }
}
