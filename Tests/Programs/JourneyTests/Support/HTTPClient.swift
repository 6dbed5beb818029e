import Glibc
import GraphQL
import TestSupport
import Testing

/// A minimal HTTP client. Each request uses a new connection, which the server closes after the response.
struct HTTPClient: Sendable {
    var address = "127.0.0.1"
    let port: Int

    struct Response: Sendable {
        let status: Int
        /// The header fields by lowercase name.
        let headers: [String: String]
        let bytes: [UInt8]

        var body: String { String(decoding: bytes, as: UTF8.self) }

        /// The parsed body; null if it is not JSON.
        var json: Value { (try? parseJSON(Array(body.utf8))) ?? .null }
    }

    /// - Parameter headers: added to the default headers or replacing them; nil removes a default header.
    func send(
        _ method: String, _ path: String, token: String? = nil, body: String = "",
        bytes: [UInt8]? = nil, headers: [String: String?] = [:]
    ) async throws -> Response {
        let content = bytes ?? Array(body.utf8)
        var fields: [String: String?] = [
            "host": "localhost", "connection": "close", "content-length": "\(content.count)",
            "content-type": "application/json",
        ]
        if let token { fields["authorization"] = "Bearer \(token)" }
        fields.merge(headers) { $1 }
        let head = fields.compactMap { name, value in value.map { "\(name): \($0)\r\n" } }.joined()
        let request = "\(method) \(path) HTTP/1.1\r\n\(head)\r\n"
        return try await blocking {
            try response(to: Array(request.utf8) + content)
        }
    }

    /// Sends a GraphQL request with POST and returns the JSON response.
    func execute(_ query: String, _ variables: Value = .null, token: String? = nil) async throws
        -> Value
    {
        try await post(query, variables, token: token).json
    }

    func post(_ query: String, _ variables: Value = .null, token: String? = nil) async throws
        -> Response
    {
        try await send(
            "POST", "/graphql", token: token, bytes: Self.operations(query, variables))
    }

    static func operations(_ query: String, _ variables: Value) -> [UInt8] {
        var writer = ResponseWriter()
        writer.write(["query": .string(query), "variables": variables])
        return writer.bytes
    }

    /// Sends a GraphQL multipart request with one file.
    func upload(
        _ file: [UInt8], operations: [UInt8], map: String, token: String?,
        headers: [String: String] = ["graphql-preflight": "1"]
    ) async throws -> Response {
        var body: [UInt8] = []
        for (name, content) in [
            ("operations", operations), ("map", Array(map.utf8)), ("0", file),
        ] {
            let disposition =
                "form-data; name=\"\(name)\"" + (name == "0" ? "; filename=\"c\"" : "")
            body += Array("--XX\r\nContent-Disposition: \(disposition)\r\n\r\n".utf8) + content
            body += Array("\r\n".utf8)
        }
        body += Array("--XX--\r\n".utf8)
        return try await send(
            "POST", "/graphql", token: token, bytes: body,
            headers: headers.merging(["content-type": "multipart/form-data; boundary=XX"]) { $1 })
    }

    /// Starts the import of a file, and returns the id of the import.
    func importLibrary(_ file: [UInt8], token: String) async throws -> String {
        let response = try await upload(
            file,
            operations: Self.operations(
                "mutation($file: Upload!) { importLibrary(input: {file: $file}) { id } }",
                ["file": .null]),
            map: #"{"0":["variables.file"]}"#, token: token)
        return try #require(
            response.json["data", "importLibrary", "id"]?.string, "\(response.body)")
    }

    /// Sends a GraphQL request without reading the response.
    func begin(_ query: String, token: String?, accept: String = "*/*") throws -> OpenRequest {
        let body = Self.operations(query, .null)
        let head =
            "POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
            + "accept: \(accept)\r\ncontent-length: \(body.count)\r\n"
            + (token.map { "authorization: Bearer \($0)\r\n" } ?? "") + "\r\n"
        let socket = try connect()
        try Self.send(Array(head.utf8) + body, on: socket)
        return OpenRequest(socket: socket)
    }

    /// A request whose response is not read. The connection closes when the object is released.
    final class OpenRequest: Sendable {
        private let socket: Int32

        fileprivate init(socket: Int32) { self.socket = socket }

        deinit { close(socket) }

        func abandon() { shutdown(socket, Int32(SHUT_RDWR)) }
    }

    private func connect() throws -> Int32 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var socketAddress = sockaddr_in()
        socketAddress.sin_family = sa_family_t(AF_INET)
        socketAddress.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
        socketAddress.sin_addr.s_addr = inet_addr(address)
        let isConnected = withUnsafeBytes(of: &socketAddress) {
            Glibc.connect(
                socket, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
        }
        guard isConnected == 0 else {
            close(socket)
            throw Program.Failure(description: "connect: errno \(errno)")
        }
        return socket
    }

    private static func send(_ request: [UInt8], on socket: Int32) throws {
        var rest = request[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            // A server may refuse the request and close the connection before it has read the body. The response says
            // why.
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
    }

    private func response(to request: [UInt8]) throws -> Response {
        let socket = try connect()
        defer { close(socket) }
        try Self.send(request, on: socket)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = recv(socket, &chunk, chunk.count, 0), count > 0 {
            bytes += chunk[..<count]
        }
        return try Self.read(bytes)
    }

    private static func read(_ bytes: [UInt8]) throws -> Response {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else {
            throw Program.Failure(
                description: "no response: \(String(decoding: bytes, as: UTF8.self))")
        }
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        let lines = head.split(separator: "\r\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] =
                parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
        }
        return Response(
            status: lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0,
            headers: headers, bytes: Array(bytes[end.upperBound...]))
    }
}
