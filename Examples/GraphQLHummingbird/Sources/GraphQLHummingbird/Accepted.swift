/// The media types of a single response.
enum SingleMediaType: Sendable {
    /// Status 200 for every well-formed request.
    case json
    /// Status 400 if the request is invalid.
    case graphQLResponse

    var contentType: String {
        switch self {
        case .json: "application/json; charset=utf-8"
        case .graphQLResponse: "application/graphql-response+json; charset=utf-8"
        }
    }
}

/// The media types that a client accepts.
///
/// Spec: https://graphql.github.io/graphql-over-http/draft/#sec-Accept and RFC 9110, section 12.5.1
struct Accepted {
    /// The type of a single response; nil if the client accepts only events.
    private(set) var single: SingleMediaType?
    /// Whether the client lists `text/event-stream`. A wildcard does not.
    private(set) var eventStream = false

    /// Returns nil if the client accepts no supported type.
    init?(_ headers: [String]) {
        let ranges = headers.flatMap { $0.split(separator: ",") }.map { Range($0) }
        guard !ranges.isEmpty else {
            single = .json
            return
        }
        eventStream = ranges.contains { $0.type == "text/event-stream" && $0.weight > 0 }
        let json = Self.weight(of: "application/json", ranges)
        let graphQLResponse = Self.weight(of: "application/graphql-response+json", ranges)
        if max(json.weight, graphQLResponse.weight) > 0 {
            // The type that is listed first has priority, and for one wildcard JSON.
            let isJSON =
                json.weight != graphQLResponse.weight
                ? json.weight > graphQLResponse.weight : json.index <= graphQLResponse.index
            single = isJSON ? .json : .graphQLResponse
        }
        if single == nil, !eventStream { return nil }
    }

    /// Returns the weight of the most specific range that contains a type, and its position.
    private static func weight(
        of type: String, _ ranges: [Range]
    ) -> (weight: Double, index: Int) {
        for pattern in [type, "application/*", "*/*"] {
            if let index = ranges.firstIndex(where: { $0.type == pattern }) {
                return (ranges[index].weight, index)
            }
        }
        return (0, ranges.count)
    }

    /// An entry of the header.
    private struct Range {
        let type: String
        /// The weight `q`. An invalid one counts as 0.
        let weight: Double

        init(_ text: Substring) {
            let parts = text.split(separator: ";").map {
                $0.filter { $0 != " " && $0 != "\t" }.lowercased()
            }
            type = parts.first ?? ""
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }
            self.weight = weight.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
        }
    }
}
