import BookSources
import Bookplate
import Config
import Logging

extension SourceChain {
    /// The sources that are configured.
    convenience init(_ configuration: Config.Configuration, _ logger: Logger) throws {
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
        try self.init(sources) { source, error in
            logger.warning(
                "a book source could not answer",
                metadata: ["source": "\(source.rawValue)", "error": "\(error)"])
        }
    }
}
