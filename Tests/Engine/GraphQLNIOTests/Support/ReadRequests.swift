import NIOCore
import NIOHTTP1

#if !FUZZ
    @testable import GraphQLNIO
#endif

/// The requests that the readers find in the bytes of one connection.
struct ReadRequests: Equatable {
    /// The requests, each as `METHOD target body`.
    var requests: [String] = []
    var problem: HTTPProblem?

    /// - Parameter pieces: The bytes in the order in which they arrive.
    init(_ pieces: [[UInt8]], limits: HTTPLimits = HTTPLimits()) {
        var unread = ByteBuffer()
        var heads = HeadReader()
        var open: (line: RequestLine, reader: BodyReader, body: ByteBuffer)?
        do throws(HTTPProblem) {
            for piece in pieces {
                unread.writeBytes(piece)
                while true {
                    if let line = open?.line, var reader = open?.reader, var body = open?.body {
                        switch try reader.read(&unread, limits) {
                        case .part(var part):
                            body.writeBuffer(&part)
                            open = (line, reader, body)
                            continue
                        case .end:
                            requests.append(
                                "\(line.method.rawValue) \(line.target) \(String(buffer: body))")
                            open = nil
                            continue
                        case .wait: open = (line, reader, body)
                        }
                    } else if let head = try heads.read(&unread, limits) {
                        open = (head.line, BodyReader(head.framing), ByteBuffer())
                        continue
                    }
                    break
                }
            }
        } catch {
            problem = error
        }
    }

    init(_ text: String, limits: HTTPLimits = HTTPLimits()) {
        self.init([Array(text.utf8)], limits: limits)
    }

    /// Reads the same bytes one at a time.
    static func byteByByte(_ bytes: [UInt8], limits: HTTPLimits = HTTPLimits()) -> Self {
        Self(bytes.map { [$0] }, limits: limits)
    }
}

extension HTTPLimits {
    /// Limits that a short message reaches.
    static var small: HTTPLimits {
        var limits = HTTPLimits()
        limits.headerFieldBytesMax = 64
        limits.headerBytesMax = 128
        limits.headerFieldsMax = 5
        return limits
    }
}
