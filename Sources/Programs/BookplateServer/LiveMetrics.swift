import GraphQLNIO
import Telemetry

extension Metrics {
    /// Reports open WebSockets, the operations on them, and open streams.
    func report(_ live: LiveGauges) {
        let sockets = gauge("bookplate_sockets", "Open WebSockets.")
        let operations = gauge(
            "bookplate_socket_operations", "Operations that run on WebSockets.")
        let streams = gauge(
            "bookplate_streams",
            "Open responses by server-sent events or multipart.")
        beforeReading {
            sockets.set(live.sockets)
            operations.set(live.operations)
            streams.set(live.streams)
        }
    }

    /// Reports the bytes of unread responses, and the refusals and closed connections that they caused.
    func report(_ unread: UnreadBytes) {
        let bytes = gauge(
            "bookplate_unread_response_bytes",
            "Bytes of responses that clients have not read. Connections with less than 64 KiB are not counted."
        )
        func refused(_ limit: String) -> Counter {
            counter(
                "bookplate_unread_refused_total",
                "Requests and responses refused because too many response bytes were unread, or memory was short.",
                ["limit": limit])
        }
        let (ofAddress, ofProcess, ofMemory) = (
            refused("address"), refused("process"), refused("memory")
        )
        let closed = counter(
            "bookplate_slow_readers_closed_total",
            "Connections closed because their clients read slowly while memory for responses was short."
        )
        beforeReading {
            bytes.set(unread.total)
            ofAddress.set(unread.addressRefusalCount)
            ofProcess.set(unread.processRefusalCount)
            ofMemory.set(unread.memoryRefusalCount)
            closed.set(unread.closedReaderCount)
        }
    }
}
