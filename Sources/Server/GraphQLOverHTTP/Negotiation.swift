/// Content negotiation by the `accept` header.
enum Negotiation {
    enum Choice: Equatable {
        case graphQL(ResponseMediaType)
        /// The client is a browser: it lists `text/html`, and prefers it.
        case page
    }

    /// Returns the format of a stream; nil if the client lists no supported format. A wildcard does not select a
    /// stream.
    static func stream(accept: String?) -> StreamFormat? {
        // Fast path for the headers of most clients.
        if accept == "*/*" || accept == "application/json" { return nil }
        guard let accept else { return nil }
        var best: (format: StreamFormat, range: Range)?
        for (index, media) in MediaType.list(accept).enumerated() {
            guard let media, let format = StreamFormat(media),
                let range = Range(media, index: index), range.weight > 0,
                range.weight > best?.range.weight ?? 0
            else { continue }
            best = (format, range)
        }
        return best?.format
    }

    /// Returns the media type of a response; nil if the client accepts no supported type.
    ///
    /// Without the header, and for a wildcard, it is `application/json`, which every client supports. The highest
    /// weight wins, then the type listed first. A wildcard never selects `text/html`.
    ///
    /// Spec: https://graphql.github.io/graphql-over-http/draft/#sec-Accept and RFC 9110, section 12.5.1
    static func choose(accept: String?, page offersPage: Bool = false) -> Choice? {
        // Fast path for the headers of most clients.
        switch accept {
        case "application/graphql-response+json": return .graphQL(.graphQLResponse)
        case nil, "*/*", "application/json": return .graphQL(.json)
        case let accept?: return choose(MediaType.list(accept), page: offersPage)
        }
    }

    private static func choose(_ entries: [MediaType?], page offersPage: Bool) -> Choice? {
        let ranges = entries.enumerated().compactMap { index, media in
            media.flatMap { Range($0, index: index) }
        }
        if entries.isEmpty { return .graphQL(.json) }  // An empty header counts as absent.
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
        return best?.choice
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
    /// Creates the format of a media type; nil for `multipart/mixed` of another protocol, and for any other type.
    fileprivate init?(_ media: MediaType) {
        if media.is("text", "event-stream") {
            self = .eventStream
        } else if media.is("multipart", "mixed"), media.parameter("subscriptionspec") == "1.0" {
            self = .multipart
        } else {
            return nil
        }
    }
}
