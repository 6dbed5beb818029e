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
    /// The maximum size of the part `map`, in bytes.
    private static let mapBytesMax = 32 << 10

    /// - Throws: `.unreadableUpload` if the temporary file cannot be read.
    private static func buffer(_ body: StoredBytes) throws(HTTPProblem) -> ByteBuffer {
        var buffer = ByteBuffer()
        switch body {
        case .memory(let bytes): buffer.writeBytes(bytes)
        case .file(let file, let range):
            let byteCount = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: range.count) {
                (try? file.read(into: .init(rebasing: $0[..<range.count]), at: range.lowerBound))
                    .map { range.count } ?? 0
            }
            guard byteCount == range.count else { throw .unreadableUpload }
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
        // The body may be in a file, which blocks the thread that reads it.
        let (parts, operations, map) = try await Self.read(isShort: false, of: request) {
            () throws(HTTPProblem) in
            let parts = try Multipart(Self.buffer(body), boundary: boundary).parts
            guard parts.count >= 2, parts[0].name == "operations", parts[1].name == "map" else {
                throw .badRequest(
                    "The first two parts must be `operations` and `map`, in this order.")
            }
            return (
                parts, try Self.json(parts[0], bytesMax: jsonBytesMax),
                try Self.json(parts[1], bytesMax: min(jsonBytesMax, Self.mapBytesMax))
            )
        }
        try self.init(operations, of: request)
        bodyByteCount = parts[..<2].reduce(0) { $0 + $1.content.readableBytes }
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

    private static func json(
        _ part: Multipart.Part, bytesMax: Int
    ) throws(HTTPProblem) -> Value {
        guard part.content.readableBytes <= bytesMax else {
            throw .bodyTooLarge(bytesMax: bytesMax)
        }
        return try json(
            Array(part.content.readableBytesView), what: "The `\(part.name)` part")
    }
}

extension HTTPProblem {
    /// The temporary file that contains the request's body cannot be read.
    fileprivate static let unreadableUpload = applicationError(
        .serviceUnavailable, code: "SERVICE_UNAVAILABLE",
        "The uploaded file could not be read. Try again.",
        retryAfterSeconds: RequestJSON.retrySeconds)
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
