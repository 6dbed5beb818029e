import Foundation

/// Sends GraphQL operations to one server.
struct GraphQLClient: Sendable {
    let server: URL
    /// The name and version of the app, by which operators see which apps use the server.
    let app: String
    let transport: any Transport

    func request(
        _ document: String, _ variables: JSON, token: String?, accept: String = "application/json"
    ) throws -> HTTPRequest {
        struct Body: Encodable {
            let query: String
            let variables: JSON
        }
        var headers = [
            "Content-Type": "application/json", "Accept": accept, "GraphQL-Client-Name": app,
        ]
        headers["Authorization"] = token.map { "Bearer \($0)" }
        return HTTPRequest(
            method: "POST", url: server.appendingPathComponent("graphql"), headers: headers,
            body: try JSONEncoder().encode(Body(query: document, variables: variables)))
    }

    /// Returns a request with a file, by the GraphQL multipart request specification.
    ///
    /// - Parameter path: the variable that the file is the value of, such as `input.image`.
    func uploadRequest(
        _ document: String, _ variables: JSON, file: Data, path: String, token: String?
    ) throws -> HTTPRequest {
        var request = try request(document, variables, token: token)
        let operations = request.body ?? Data()
        let map = try JSONEncoder().encode(["0": ["variables.\(path)"]])
        // The boundary must not be in the file.
        var boundary = "bookplate"
        while file.range(of: Data(boundary.utf8)) != nil { boundary += "-\(boundary.count)" }
        var body = Data()
        for (name, content) in [
            (#"name="operations""#, operations), (#"name="map""#, map),
            (#"name="0"; filename="file""#, file),
        ] {
            body += Data(
                "--\(boundary)\r\nContent-Disposition: form-data; \(name)\r\n\r\n".utf8)
            body += content
            body += Data("\r\n".utf8)
        }
        body += Data("--\(boundary)--\r\n".utf8)
        request.headers["Content-Type"] = "multipart/form-data; boundary=\(boundary)"
        // Requests of this kind that a browser sends for another site do not have it.
        request.headers["GraphQL-Preflight"] = "1"
        request.body = body
        return request
    }

    /// Returns the data of the response.
    ///
    /// - Parameter timeout: the number of seconds after which a request without a response fails. Nil for that of the transport.
    /// - Throws: `ServerError` for the first error of the response, `BookplateError.unreachable`, or
    ///   `BookplateError.invalidResponse`.
    func execute<Result: Decodable>(
        _ document: String, _ variables: JSON, token: String?, timeout: Double? = nil,
        as: Result.Type = Result.self
    ) async throws -> Result {
        var request = try request(document, variables, token: token)
        request.timeout = timeout
        let response = try await send(request)
        return try Self.data(of: response)
    }

    /// Sends a request, and reports failures of the network as `BookplateError.unreachable`.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await transport.response(to: request)
    }

    static func data<Result: Decodable>(of response: HTTPResponse) throws -> Result {
        let decoded: GraphQLResponse<Result>
        do {
            decoded = try JSONDecoder().decode(GraphQLResponse<Result>.self, from: response.body)
        } catch is DecodingError {
            // The data may lack what was expected because of an error, which says more.
            if let error = Self.errors(of: response)?.first { throw error }
            throw BookplateError.invalidResponse(status: response.status)
        }
        if let error = decoded.errors?.first { throw error }
        guard let data = decoded.data else {
            throw BookplateError.invalidResponse(status: response.status)
        }
        return data
    }

    /// Returns the errors of a response; nil if it is not a GraphQL response.
    static func errors(of response: HTTPResponse) -> [ServerError]? {
        struct Errors: Decodable { let errors: [ServerError]? }
        return (try? JSONDecoder().decode(Errors.self, from: response.body)).map { $0.errors ?? [] }
    }
}

struct GraphQLResponse<Data: Decodable>: Decodable {
    let data: Data?
    let errors: [ServerError]?
}
