import Basics
import HTTPFetch
import Synchronization

/// A search for the cover of a book.
package struct CoverQuery: Sendable {
    package var title: String
    package var author: String?
    package var number: BookNumber?
    /// The covers that the catalog has links to.
    package var links: [CoverCandidate]

    package init(
        title: String, author: String?, number: BookNumber?, links: [CoverCandidate] = []
    ) {
        self.title = title
        self.author = author
        self.number = number
        self.links = links
    }
}

/// The URL of an image that may be the cover of a book.
package struct CoverLink: Sendable, Hashable {
    /// nil if a web search found the image.
    package var source: SourceName?
    package var url: String
}

/// The stages of a search for covers, the most reliable one first.
package enum CoverStage: Int, Sendable, CaseIterable {
    /// The links in the catalog.
    case catalog
    /// The sources' records with the ISBN, and Open Library's cover for the ISBN.
    case number
    /// The sources' books with the title and author.
    case title
    case web
}

/// The links that the sources have returned in one stage.
package struct CoverLinks: Sendable {
    /// The best match first.
    package var links: [CoverLink] = []
    /// The sources whose requests failed. nil means the web search.
    package var failures: [SourceName?] = []
    /// When a retry is useful, if all failed sources are paused. nil if one of them failed for another reason.
    package var pausedUntil: CoverSources.Instant?
}

/// The sources of covers: the book sources, Open Library's covers by ISBN, and web searches.
package final class CoverSources: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// Open Library allows a hundred covers by ISBN in five minutes. Covers by their own IDs are not limited.
    private static let isbnRateLimit = RateLimit(perSecond: 0.33, burst: 60)

    private let chain: SourceChain
    /// Has no trailing slash. nil if the source is switched off.
    private let openLibraryCoversURL: String?
    private let webSearch: WebSearch?
    /// May reach private hosts that the operator has configured, so it must be used only for URLs at their origins.
    package let fetcher: Fetcher?
    /// The origins of the configured sources, as `https://host:port/`. A mirror may serve images at the same origin as records.
    private let configuredOrigins: [String]
    private let isbnRateLimiter = Mutex(RateLimiter(isbnRateLimit, now: .now))
    private let onFailure: @Sendable (SourceError) -> Void

    /// - Parameters:
    ///   - configuredURLs: The URLs of the sources in the operator's configuration.
    ///   - onFailure: Called for each web search that failed, for the log.
    package init(
        _ chain: SourceChain, openLibraryCoversURL: String? = nil, webSearch: WebSearch? = nil,
        fetcher: Fetcher? = nil, configuredURLs: [String] = [],
        onFailure: @escaping @Sendable (SourceError) -> Void = { _ in }
    ) {
        self.chain = chain
        self.openLibraryCoversURL = openLibraryCoversURL
        self.webSearch = webSearch
        self.fetcher = fetcher
        configuredOrigins = (configuredURLs + [openLibraryCoversURL].compactMap { $0 }).map(
            origin(of:))
        self.onFailure = onFailure
    }

    /// Whether no source is configured.
    package var isEmpty: Bool {
        chain.names.isEmpty && openLibraryCoversURL == nil && webSearch == nil
    }

    /// Whether a URL is at an origin that the operator has configured. Such an origin may be private.
    package func isConfigured(_ url: String) -> Bool {
        configuredOrigins.contains { url.hasPrefix($0) }
    }

    /// Queries the sources of a stage. Returns the links that have arrived by the deadline.
    package func links(
        for book: CoverQuery, at stage: CoverStage, by deadline: Instant,
        priority: RequestPriority = .background, reader: UUID? = nil
    ) async -> CoverLinks {
        switch stage {
        case .catalog:
            return CoverLinks(links: links(book.links))
        case .number:
            guard let number = book.number else { return CoverLinks() }
            let found = await chain.covers(
                number: number, title: book.title, author: nil,
                within: ContinuousClock.now.duration(to: deadline), priority: priority, for: reader)
            var result = CoverLinks(found)
            if let openLibraryCoversURL,
                !result.links.contains(where: { $0.source == .openLibrary })
            {
                addOpenLibraryLink(openLibraryCoversURL, number, priority, to: &result)
            }
            return result
        case .title:
            let found = await chain.covers(
                number: nil, title: book.title, author: book.author,
                within: ContinuousClock.now.duration(to: deadline), priority: priority, for: reader)
            return CoverLinks(found)
        case .web:
            guard let webSearch else { return CoverLinks() }
            do throws(SourceError) {
                let addresses = try await webSearch.addresses(
                    of: book, CallOptions(deadline: deadline, priority: priority, reader: reader))
                return CoverLinks(links: addresses.map { CoverLink(source: nil, url: $0) })
            } catch {
                onFailure(error)
                return CoverLinks(
                    failures: [nil], pausedUntil: webSearch.client.pausedUntil(priority))
            }
        }
    }

    /// Returns the links of the catalog, without those to sources that have been switched off since.
    package func links(_ candidates: [CoverCandidate]) -> [CoverLink] {
        candidates.filter { isEnabled($0.source) }.map { CoverLink($0) }
    }

    private func isEnabled(_ source: SourceName) -> Bool {
        chain.names.contains(source) || source == .openLibrary && openLibraryCoversURL != nil
    }

    private func addOpenLibraryLink(
        _ coversURL: String, _ number: BookNumber, _ priority: RequestPriority,
        to result: inout CoverLinks
    ) {
        if isbnRateLimiter.withLock({ $0.take(priority, at: .now) }) {
            // Without default=false, Open Library returns an image of one pixel for a missing cover.
            let url = "\(coversURL)/b/isbn/\(number.isbn13)-L.jpg?default=false"
            result.links.append(CoverLink(source: .openLibrary, url: url))
        } else if !chain.names.contains(.openLibrary) {
            // The records of Open Library contain nearly all of its covers. If its records are not queried either, it is unknown
            // whether there is a cover.
            result.failures.append(.openLibrary)
            result.pausedUntil = nil
        }
    }

    /// The limits of the host that an image is fetched from. nil for the results of web searches, which may be at any host.
    package func gate(of link: CoverLink) -> SourceGate? {
        link.source.map { chain.limits.gate(of: SourceHost(imagesOf: $0)) }
    }
}

extension CoverLink {
    fileprivate init(_ candidate: CoverCandidate) {
        self.init(source: candidate.source, url: candidate.url)
    }
}

extension CoverLinks {
    fileprivate init(_ found: FoundCovers) {
        self.init(
            links: found.candidates.map { CoverLink($0) }, failures: found.failures,
            pausedUntil: found.pausedUntil)
    }
}

/// Returns the origin of a URL as `https://host:port/`.
private func origin(of url: String) -> String {
    url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3)
        .joined(separator: "/") + "/"
}
