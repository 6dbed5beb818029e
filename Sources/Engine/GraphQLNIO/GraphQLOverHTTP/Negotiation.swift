/// Content negotiation by the `accept` header.
package enum Negotiation {
    package enum Choice: Equatable {
        case graphQL(ResponseMediaType)
        /// The client is a browser: it lists `text/html`, and prefers it.
        case page
    }

    /// The formats of streams that a client accepts. A wildcard does not select one.
    struct Streams: Equatable {
        /// The format for the events of a subscription. Its weight does not matter, because a subscription has no single response.
        var events: StreamFormat?
        /// The format for the parts of one response; nil if a single response has a higher weight.
        var incremental: StreamFormat?
        /// Whether an event stream has a higher weight than a single response, so that queries and mutations get one, too.
        ///
        /// The weights of `multipart/mixed` do not have this effect: Apollo's clients prefer it in each request, and expect
        /// it only for a response in several parts.
        var prefersEventStream = false
    }

    static func streams(accept: String?) -> Streams {
        // Fast path for the headers of most clients.
        if accept == "*/*" || accept == "application/json" { return Streams() }
        guard let accept else { return Streams() }
        let entries = MediaType.list(accept)
        let single = Self.best(entries, page: false)?.range.weight ?? 0
        let formats = entries.enumerated().compactMap { index, media in
            media.flatMap { media in
                StreamFormat(media).flatMap { format in
                    Range(media, index: index).map { (format: format, weight: $0.weight) }
                }
            }
        }
        // The first one of the highest weight.
        func best(_ isIncluded: (StreamFormat) -> Bool) -> (format: StreamFormat, weight: Int)? {
            var best: (format: StreamFormat, weight: Int)?
            for (format, weight) in formats
            where isIncluded(format) && weight > best?.weight ?? 0 {
                best = (format, weight)
            }
            return best
        }
        let events = best(\.isForEvents)
        let incremental = best { $0.incrementalFormat != nil }
        return Streams(
            events: events?.format,
            incremental: incremental.flatMap { $0.weight >= single ? $0.format : nil },
            prefersEventStream: events.map { $0.format == .eventStream && $0.weight > single }
                ?? false)
    }

    /// Returns the media type of a response; nil if the client accepts no supported type.
    ///
    /// Without the header, and for a wildcard, it is `application/json`, which every client supports. The highest
    /// weight wins, then the type listed first. A wildcard never selects `text/html`.
    ///
    /// Spec: https://graphql.github.io/graphql-over-http/draft/#sec-Accept and RFC 9110, section 12.5.1
    package static func choose(accept: String?, page offersPage: Bool = false) -> Choice? {
        // Fast path for the headers of most clients.
        switch accept {
        case "application/graphql-response+json": return .graphQL(.graphQLResponse)
        case nil, "*/*", "application/json": return .graphQL(.json)
        case let accept?:
            let entries = MediaType.list(accept)
            if entries.isEmpty { return .graphQL(.json) }  // An empty header counts as absent.
            return best(entries, page: offersPage)?.choice
        }
    }

    private static func best(
        _ entries: [MediaType?], page offersPage: Bool
    ) -> (choice: Choice, range: Range)? {
        let ranges = entries.enumerated().compactMap { index, media in
            media.flatMap { Range($0, index: index) }
        }
        var best: (choice: Choice, range: Range)?
        // If one wildcard matches several types, the first one here is chosen.
        let offers: [(Choice, String, String)] = [
            (.graphQL(.json), "application", "json"),
            (.graphQL(.graphQLResponse), "application", "graphql-response+json"),
            (.page, "text", "html"),
        ]
        for (choice, type, subtype) in offers {
            if choice == .page, !offersPage { continue }
            // The most specific matching range determines the weight of a media type.
            let matching = ranges.filter {
                $0.matches(type, subtype) && (choice != .page || $0.specificity == 2)
            }
            guard let range = matching.max(by: { $0.specificity < $1.specificity }),
                range.weight > 0
            else { continue }
            if let current = best?.range,
                (current.weight, -current.index) >= (range.weight, -range.index)
            {
                continue
            }
            best = (choice, range)
        }
        return best
    }

    /// An entry of the `accept` header.
    private struct Range {
        var media: MediaType
        /// The weight `q` in thousandths.
        var weight: Int
        var index: Int

        /// Creates a range; nil if the weight is malformed, or if the charset is not UTF-8.
        init?(_ media: MediaType, index: Int) {
            guard media.isUTF8, let weight = media.parameter("q").map(Self.weight) ?? 1000 else {
                return nil
            }
            self.media = media
            self.weight = weight
            self.index = index
        }

        var specificity: Int { media.type == "*" ? 0 : media.subtype == "*" ? 1 : 2 }

        func matches(_ type: String, _ subtype: String) -> Bool {
            switch specificity {
            case 0: media.subtype == "*"
            case 1: media.type == type
            default: media.is(type, subtype)
            }
        }

        /// Parses a weight such as `0`, `0.5`, or `1.000` into thousandths. Returns nil for anything else, and for more
        /// than three decimal places.
        private static func weight(_ text: String) -> Int? {
            let bytes = Array(text.utf8)
            guard let first = bytes.first, first == UInt8(ascii: "0") || first == UInt8(ascii: "1"),
                bytes.count == 1 || bytes[1] == UInt8(ascii: "."), bytes.count <= 5
            else { return nil }
            var weight = first == UInt8(ascii: "1") ? 1000 : 0
            for (byte, unit) in zip(bytes.dropFirst(2), [100, 10, 1]) {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                weight += Int(byte - UInt8(ascii: "0")) * unit
            }
            return weight <= 1000 ? weight : nil
        }
    }
}

extension StreamFormat {
    /// The parameters of `multipart/mixed` that select the draft of incremental delivery, with the names and values of
    /// Apollo's clients and servers. Without any parameter it is the draft too.
    private static let draftParameters = [
        ("incrementalspec", "v0.2", "incrementalSpec"),
        ("incrementaldeliveryspec", "3283f8a", "incrementalDeliverySpec"),
    ]

    /// Creates the format of a media type; nil for `multipart/mixed` of another protocol, and for any other type.
    fileprivate init?(_ media: MediaType) {
        if media.is("text", "event-stream") {
            self = .eventStream
            return
        }
        guard media.is("multipart", "mixed") else { return nil }
        if let version = media.parameter("subscriptionspec") {
            guard version == "1.0" else { return nil }
            self = .multipart
            return
        }
        if let version = media.parameter("deferspec") {
            guard version == "20220824" else { return nil }
            self = .incrementalMultipart(.apollo2022, parameter: "deferSpec=20220824")
            return
        }
        for (name, value, spelling) in Self.draftParameters {
            guard let version = media.parameter(name) else { continue }
            guard version == value else { return nil }
            self = .incrementalMultipart(.draft, parameter: "\(spelling)=\(value)")
            return
        }
        self = .incrementalMultipart(.draft, parameter: nil)
    }
}
