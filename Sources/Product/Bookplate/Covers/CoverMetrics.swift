import BookSources
import Telemetry

/// Counts cover searches by result, and downloaded images by source and result.
package struct CoverMetrics: Sendable {
    private let searches: [String: Counter]
    private let images: [String: Counter]

    init(_ metrics: Metrics) {
        let sources = Set(CoverSource.found.map { $0.rawValue.lowercased() })
        var searches: [String: Counter] = [:]
        for (result, source) in sources.map({ ("found", $0) })
            + [("not_found", "none"), ("unavailable", "none")]
        {
            searches["\(result) \(source)"] = metrics.counter(
                "bookplate_cover_searches_total",
                "Cover searches by result and by the source of the chosen cover.",
                ["result": result, "source": source])
        }
        var images: [String: Counter] = [:]
        for source in sources {
            for result in ["usable", "refused", "missing", "failed"] {
                images["\(result) \(source)"] = metrics.counter(
                    "bookplate_cover_pictures_total",
                    "Images that cover searches have downloaded, by source and result.",
                    ["result": result, "source": source])
            }
        }
        self.searches = searches
        self.images = images
    }

    func count(_ outcome: CoverSearch.Outcome) {
        switch outcome {
        case .found(_, let source):
            searches["found \(source.rawValue.lowercased())"]?.increment()
        case .nothing: searches["not_found none"]?.increment()
        case .unavailable: searches["unavailable none"]?.increment()
        }
    }

    /// - Parameter source: nil for the web search.
    func count(_ download: CoverDownload, from source: SourceName?) {
        images["\(download.name) \(CoverSource(source).rawValue.lowercased())"]?.increment()
    }
}
