import BookSources
import Telemetry

/// What searches came to, and what the places had to offer.
struct CoverCounts: Sendable {
    private let searches: [String: Counter]
    private let pictures: [String: Counter]

    init(_ metrics: Metrics) {
        let sources = Set(CoverSource.found.map { $0.rawValue.lowercased() })
        var searches: [String: Counter] = [:]
        for (result, source) in sources.map({ ("found", $0) })
            + [("not_found", "none"), ("unavailable", "none")]
        {
            searches["\(result) \(source)"] = metrics.counter(
                "bookplate_cover_searches_total",
                "Searches for covers, by what they came to and whose cover was taken.",
                ["result": result, "source": source])
        }
        var pictures: [String: Counter] = [:]
        for source in sources {
            for result in ["usable", "refused", "missing", "failed"] {
                pictures["\(result) \(source)"] = metrics.counter(
                    "bookplate_cover_pictures_total",
                    "Pictures that searches for covers have looked at, by source.",
                    ["result": result, "source": source])
            }
        }
        self.searches = searches
        self.pictures = pictures
    }

    func count(_ outcome: CoverSearch.Outcome) {
        switch outcome {
        case .found(_, let source):
            searches["found \(source.rawValue.lowercased())"]?.increment()
        case .nothing: searches["not_found none"]?.increment()
        case .unavailable: searches["unavailable none"]?.increment()
        }
    }

    func count(_ result: String, of source: SourceName?) {
        pictures["\(result) \(CoverSource(source).rawValue.lowercased())"]?.increment()
    }
}
