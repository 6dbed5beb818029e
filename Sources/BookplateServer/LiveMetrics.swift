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
}
