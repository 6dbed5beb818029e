import BookSources
import Bookplate
import Config
import HTTPFetch
import Logging

extension SourceChain {
    /// The sources that are configured.
    convenience init(_ configuration: Config.Configuration, _ logger: Logger) throws {
        let settings = configuration.sources
        var sources = SourceChain.Configuration()
        sources.openLibraryURL = settings.openLibraryURL.map(withoutSlash)
        sources.openLibraryCoversURL = settings.openLibraryCoversURL.map(withoutSlash)
        sources.googleBooksURL = settings.googleBooksURL.map(withoutSlash)
        sources.googleBooksKey = settings.googleBooksKey
        sources.isbnDBURL = settings.isbnDBURL.map(withoutSlash)
        sources.isbnDBKey = settings.isbnDBKey
        // The operator's own setting may name a private host; nothing a stranger says comes here.
        let hosts = [sources.openLibraryURL, sources.googleBooksURL, sources.isbnDBURL]
            .compactMap { $0.map(host) }
        let allowed = try FetchAllowList(
            parsing: (settings.fetchAllow + hosts).joined(separator: ","))
        let contact = settings.contact ?? configuration.publicURL
        let fetcher = Fetcher(
            policy: FetchPolicy(userAgent: "Bookplate/1 (+\(contact))", allowed: allowed))
        self.init(sources, fetcher: fetcher) { source, error in
            logger.warning(
                "a book source could not answer",
                metadata: ["source": "\(source.rawValue)", "error": "\(error)"])
        }
    }
}

/// `[::1]` of `http://[::1]:8080/ol`.
private func host(of url: String) -> String {
    let authority = url.split(separator: "/").dropFirst().first ?? ""
    let isBracketed = authority.hasPrefix("[")
    return authority.prefix { $0 != (isBracketed ? "]" : ":") } + (isBracketed ? "]" : "")
}

private func withoutSlash(_ url: String) -> String {
    var url = url
    while url.hasSuffix("/") { url.removeLast() }
    return url
}
