import HTTPFetch
import Synchronization

/// A book that a cover is looked for.
package struct CoverQuery: Sendable {
    package var title: String
    package var author: String?
    package var number: BookNumber?
    /// Where the catalogue knows of covers of it.
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

/// Where a picture is that may be a book's cover.
package struct CoverOffer: Sendable, Hashable {
    /// nil where a search of the web found it.
    package var source: SourceName?
    package var url: String
}

/// Where covers are looked for, the surest places first.
package enum CoverStage: Int, Sendable, CaseIterable {
    /// The catalogue's links.
    case links
    /// The sources' records of the ISBN, and the covers that Open Library has under it.
    case number
    /// The sources' books of that title and author.
    case title
    case web
}

/// The responses of the sources in one stage.
package struct CoverOffers: Sendable {
    /// The best match first.
    package var offers: [CoverOffer] = []
    /// The sources that could not answer. The web search is nil.
    package var failures: [SourceName?] = []
    /// When it is worth asking again, if all failed sources are paused; nil if one failed for another reason.
    package var pausedUntil: CoverSources.Instant?
}

/// Who is asked for covers: the book sources, Open Library's covers by ISBN, and a search of the web.
package final class CoverSources: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// Pictures by ISBN are a hundred in five minutes; by their own numbers they are not counted so.
    private static let numberLimit = RateLimit(perSecond: 0.33, burst: 60)

    private let chain: SourceChain
    /// Without a slash at its end; nil is switched off.
    private let openLibraryCoversURL: String?
    private let webSearch: WebSearch?
    /// Reaches the hosts that the operator has named, so it is for requests that stay at their origins.
    package let fetcher: Fetcher?
    /// `https://host:port/` of the sources' own addresses: a mirror's pictures are beside its records.
    private let operatorsOrigins: [String]
    private let pace = Mutex(RequestPace(numberLimit, now: .now))
    private let onFailure: @Sendable (SourceError) -> Void

    /// - Parameters:
    ///   - operatorsURLs: where the operator says that the sources are.
    ///   - onFailure: told of each search of the web that failed, for the log.
    package init(
        _ chain: SourceChain, openLibraryCoversURL: String? = nil, webSearch: WebSearch? = nil,
        fetcher: Fetcher? = nil, operatorsURLs: [String] = [],
        onFailure: @escaping @Sendable (SourceError) -> Void = { _ in }
    ) {
        self.chain = chain
        self.openLibraryCoversURL = openLibraryCoversURL
        self.webSearch = webSearch
        self.fetcher = fetcher
        operatorsOrigins = (operatorsURLs + [openLibraryCoversURL].compactMap { $0 }).map(
            origin(of:))
        self.onFailure = onFailure
    }

    /// Whether there is anybody who could be asked.
    package var isEmpty: Bool {
        chain.names.isEmpty && openLibraryCoversURL == nil && webSearch == nil
    }

    /// Whether an address is at a place that the operator has named, which may be private.
    package func isOperators(_ url: String) -> Bool {
        operatorsOrigins.contains { url.hasPrefix($0) }
    }

    /// Asks the sources of a stage. Returns by the deadline with what is known by then.
    package func offers(
        of book: CoverQuery, at stage: CoverStage, by deadline: Instant,
        priority: RequestPriority = .background
    ) async -> CoverOffers {
        switch stage {
        case .links:
            return CoverOffers(offers: offers(book.links))
        case .number:
            guard let number = book.number else { return CoverOffers() }
            let found = await chain.covers(
                number: number, title: book.title, author: nil,
                within: ContinuousClock.now.duration(to: deadline), priority: priority)
            var answer = CoverOffers(found)
            if let openLibraryCoversURL,
                !answer.offers.contains(where: { $0.source == .openLibrary })
            {
                addOpenLibraryOffer(openLibraryCoversURL, number, to: &answer)
            }
            return answer
        case .title:
            let found = await chain.covers(
                number: nil, title: book.title, author: book.author,
                within: ContinuousClock.now.duration(to: deadline), priority: priority)
            return CoverOffers(found)
        case .web:
            guard let webSearch else { return CoverOffers() }
            do throws(SourceError) {
                let addresses = try await webSearch.addresses(
                    of: book, CallOptions(deadline: deadline, priority: priority))
                return CoverOffers(offers: addresses.map { CoverOffer(source: nil, url: $0) })
            } catch {
                onFailure(error)
                return CoverOffers(
                    failures: [nil], pausedUntil: webSearch.client.pausedUntil(priority))
            }
        }
    }

    /// What the catalogue knows of; a link in it may be of a source that has been switched off since.
    package func offers(_ links: [CoverCandidate]) -> [CoverOffer] {
        links.filter { isOn($0.source) }.map { CoverOffer($0) }
    }

    private func isOn(_ source: SourceName) -> Bool {
        chain.names.contains(source) || source == .openLibrary && openLibraryCoversURL != nil
    }

    private func addOpenLibraryOffer(
        _ coversURL: String, _ number: BookNumber, to answer: inout CoverOffers
    ) {
        if pace.withLock({ $0.turn(at: .now, by: .now) }) != nil {
            // Without default=false a missing cover is a picture of one pixel.
            let url = "\(coversURL)/b/isbn/\(number.isbn13)-L.jpg?default=false"
            answer.offers.append(CoverOffer(source: .openLibrary, url: url))
        } else if !chain.names.contains(.openLibrary) {
            // Its records tell of nearly all its pictures. Where they are not asked, nobody has said that there is none.
            answer.failures.append(.openLibrary)
            answer.pausedUntil = nil
        }
    }

    /// The limits of the host that a picture is fetched from; nil for a picture that the web search has found, whose host
    /// may be any.
    package func gate(of offer: CoverOffer) -> SourceGate? {
        offer.source.map { chain.limits.gate(of: SourceHost(picturesOf: $0)) }
    }
}

extension CoverOffer {
    fileprivate init(_ candidate: CoverCandidate) {
        self.init(source: candidate.source, url: candidate.url)
    }
}

extension CoverOffers {
    fileprivate init(_ found: FoundCovers) {
        self.init(
            offers: found.candidates.map { CoverOffer($0) }, failures: found.failures,
            pausedUntil: found.pausedUntil)
    }
}

/// `https://host:port/` of an address.
private func origin(of url: String) -> String {
    url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3)
        .joined(separator: "/") + "/"
}
