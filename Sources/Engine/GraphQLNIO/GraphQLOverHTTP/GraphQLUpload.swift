import Basics
import GraphQL
import GraphQLServing
import NIOCore

/// Parses requests with file uploads.
///
/// Spec: https://github.com/jaydenseric/graphql-multipart-request-spec
extension GraphQLRequest {
    /// The maximum number of places in the variables that refer to files.
    private static let uploadPathsMax = 100
    private static func buffer(_ body: StoredBytes) throws(HTTPProblem) -> ByteBuffer {
        guard case .file(let file, let range) = body else {
            return ByteBuffer(bytes: (try? body.bytes()) ?? [])
        }
        var buffer = ByteBuffer()
        let result = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: range.count) {
            (try? file.read(into: .init(rebasing: $0[..<range.count]), at: range.lowerBound))
                .map { range.count } ?? 0
        }
        guard result == range.count else {
            throw .applicationError(
                .internalServerError, code: "INTERNAL_SERVER_ERROR",
                "Something went wrong on our side. Try again.")
        }
        return buffer
    }

    /// Reads a request from the `multipart/form-data` body of a POST request.
    ///
    /// - Parameter jsonBytesMax: The maximum size of the parts that are JSON, which is that of other bodies.
    init(
        multipart request: HTTPRequest, boundary: String, jsonBytesMax: Int
    ) async throws(HTTPProblem) {
        let body = request.storedBody
        let parts = try await Self.onThread(for: request) { () throws(HTTPProblem) in
            try Multipart(Self.buffer(body), boundary: boundary).parts
        }
        guard parts.count >= 2, parts[0].name == "operations", parts[1].name == "map" else {
            throw .badRequest("The first two parts must be `operations` and `map`, in this order.")
        }
        for part in parts[..<2] where part.content.readableBytes > jsonBytesMax {
            throw .bodyTooLarge(bytesMax: jsonBytesMax)
        }
        let operations = try Self.json(
            Array(parts[0].content.readableBytesView), what: "The `operations` part")
        try self.init(operations, of: request)
        bodyByteCount = parts[0].content.readableBytes
        let map = try Self.json(
            Array(parts[1].content.readableBytesView), what: "The `map` part")
        guard case .object(let entries) = map else {
            throw .badRequest("The `map` part must be a JSON object.")
        }
        guard entries.reduce(0, { $0 + ($1.value.list?.count ?? 0) }) <= Self.uploadPathsMax else {
            throw .badRequest("`map` may contain at most \(Self.uploadPathsMax) paths.")
        }
        let files = Dictionary(parts.dropFirst(2).map { ($0.name, body.part($0.range)) }) {
            first, _ in first
        }
        for entry in entries {
            guard let file = files[entry.name] else {
                throw .badRequest("`map` refers to a file that was not sent.")
            }
            guard let paths = entry.value.list, !paths.isEmpty else {
                throw .badRequest("Each entry of `map` must be a list of paths.")
            }
            let reference = UploadReference.value(uploads.count)
            uploads.append(file)
            for path in paths {
                guard let steps = path.string?.split(separator: "."), steps.first == "variables",
                    variables?.replaceNull(at: steps.dropFirst(), with: reference) == true
                else {
                    throw .badRequest(
                        "Each path in `map` must lead to a null value in `variables`.")
                }
            }
        }
    }
}

extension Value {
    /// Replaces the null at a path by a value.
    ///
    /// - Returns: false if the path does not lead to a null.
    fileprivate mutating func replaceNull(
        at path: ArraySlice<Substring>, with value: Value
    ) -> Bool {
        guard let step = path.first else {
            guard isNull else { return false }
            self = value
            return true
        }
        switch self {
        case .object(var members):
            guard let index = members.firstIndex(where: { $0.name == step }) else { return false }
            // Otherwise changing `members` would copy them.
            self = .null
            defer { self = .object(members) }
            return members[index].value.replaceNull(at: path.dropFirst(), with: value)
        case .list(var items):
            guard let index = Int(step), items.indices.contains(index) else { return false }
            self = .null
            defer { self = .list(items) }
            return items[index].replaceNull(at: path.dropFirst(), with: value)
        case .null, .boolean, .int, .bigInt, .float, .string:
            return false
        }
    }
}
