import Server
import Telemetry

extension Metrics {
    /// What lasts: sockets, subscriptions on them, answers that come in parts.
    func tell(of live: LiveGauges) {
        let sockets = gauge("bookplate_sockets", "WebSockets that are open.")
        let operations = gauge(
            "bookplate_socket_operations", "Operations under way on WebSockets.")
        let streams = gauge(
            "bookplate_streams",
            "Answers that are sent in parts, by server-sent events or multipart.")
        beforeReading {
            sockets.set(live.sockets)
            operations.set(live.operations)
            streams.set(live.streams)
        }
    }
    /// Responses that clients have not read, and what was refused or closed because of them.
    func tell(of unread: UnreadBytes) {
        let bytes = gauge(
            "bookplate_unread_response_bytes",
            "Bytes of responses that clients have not read, of connections with at least 64 KiB of them."
        )
        func refused(_ limit: String) -> Counter {
            counter(
                "bookplate_unread_refused_total",
                "Requests and responses refused because too many response bytes were unread.",
                ["limit": limit])
        }
        let (ofAddress, ofProcess) = (refused("address"), refused("process"))
        let closed = counter(
            "bookplate_slow_readers_closed_total",
            "Connections closed because their clients read slowly while memory for responses was short."
        )
        beforeReading {
            bytes.set(unread.total)
            ofAddress.set(unread.addressRefusalCount)
            ofProcess.set(unread.processRefusalCount)
            closed.set(unread.closedReaderCount)
        }
    }
}
