import BookSources
import Bookplate
import Config
import Logging

/// Who knows books and covers outside, as it is configured.
struct OutsideSources {
    let books: SourceChain
    let covers: CoverSources

    init(_ configuration: Config.Configuration, _ logger: Logger) throws {
        let settings = configuration.sources
        var sources = SourceChain.Configuration()
        sources.openLibraryURL = settings.openLibraryURL
        sources.openLibraryCoversURL = settings.openLibraryCoversURL
        sources.googleBooksURL = settings.googleBooksURL
        sources.googleBooksKey = settings.googleBooksKey
        sources.isbnDBURL = settings.isbnDBURL
        sources.isbnDBKey = settings.isbnDBKey
        sources.allowed = settings.fetchAllow
        sources.contact = settings.contact ?? configuration.publicURL
        let failures = FailureLog(logger)
        books = try SourceChain(sources) { failures.failed($0.rawValue, $1) }
        covers = try CoverSources(sources, chain: books, web: settings.webAccess) {
            failures.failed("web_search", $0)
        }
    }
}

extension Config.Configuration.Sources {
    /// nil where there is no key.
    fileprivate var webAccess: CoverSources.WebAccess? {
        guard let openAIURL, let openAIKey else { return nil }
        return CoverSources.WebAccess(url: openAIURL, key: openAIKey, model: openAIModel)
    }
}
