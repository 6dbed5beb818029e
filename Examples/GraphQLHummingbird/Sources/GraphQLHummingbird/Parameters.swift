import FoundationEssentials
import GraphQL
import GraphQLServing

/// The reason why the parameters of a request cannot be read.
struct ParameterError: Error {
    let message: String
}

/// Reads requests. Other parameters are ignored, because the specification reserves them.
///
/// Spec: https://graphql.github.io/graphql-over-http/draft/#sec-Request-Parameters
extension GraphQLRequest {
    /// Reads the body of a `POST` request.
    init(json bytes: [UInt8]) throws(ParameterError) {
        let body = try Self.json(bytes, "The request's body")
        guard case .object = body else {
            throw ParameterError(message: "The request's body must be a JSON object.")
        }
        self.init(
            query: try body.string("query"), operationName: try body.string("operationName"),
            variables: try body.object("variables"), extensions: try body.object("extensions"))
        try check()
    }

    /// Reads the query string of a `GET` request.
    init(queryString: String) throws(ParameterError) {
        var parameters: [Value.Member] = []
        for pair in queryString.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]),
                let value = Self.decoded(parts.count > 1 ? parts[1] : "")
            else { throw ParameterError(message: "The query string is not valid.") }
            if name == "variables" || name == "extensions", !value.isEmpty {
                let json = try Self.json(Array(value.utf8), "The parameter '\(name)'")
                parameters.append(.init(name, json))
            } else {
                parameters.append(.init(name, .string(value)))
            }
        }
        let body = Value.object(parameters)
        self.init(
            query: try body.string("query"), operationName: try body.string("operationName"),
            variables: try body.object("variables"), extensions: try body.object("extensions"))
        try check()
    }

    private mutating func check() throws(ParameterError) {
        guard query != nil else {
            throw ParameterError(message: "The parameter 'query' is missing.")
        }
        if operationName == "" { operationName = nil }
    }

    private static func json(_ bytes: [UInt8], _ subject: String) throws(ParameterError) -> Value {
        do throws(JSONError) {
            return try parseJSON(bytes, limits: JSONLimits(bytesMax: bytes.count))
        } catch {
            throw ParameterError(message: "\(subject) cannot be parsed: \(error.message)")
        }
    }

    private static func decoded(_ text: Substring) -> String? {
        text.replacing("+", with: " ").removingPercentEncoding
    }
}

extension Value {
    /// Returns the string; nil if the member is absent or null.
    fileprivate func string(_ name: String) throws(ParameterError) -> String? {
        switch self[name] {
        case .string(let text)?: return text
        case .null?, nil: return nil
        default: throw ParameterError(message: "The parameter '\(name)' must be a string.")
        }
    }

    /// Returns the object; nil if the member is absent, null, or an empty parameter.
    fileprivate func object(_ name: String) throws(ParameterError) -> Value? {
        switch self[name] {
        case .object?: return self[name]
        case .null?, .string("")?, nil: return nil
        default: throw ParameterError(message: "The parameter '\(name)' must be a JSON object.")
        }
    }
}
