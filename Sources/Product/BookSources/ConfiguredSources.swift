import HTTPFetch

extension SourceChain {
    /// Creates the configured sources, with a fetcher of their own.
    ///
    /// - Throws: if an entry of `allowed` is neither a host nor a network.
    package convenience init(
        _ configuration: Configuration, limits: SourceLimits,
        onFailure: @escaping @Sendable (SourceName, SourceError) -> Void
    ) throws(FetchAllowList.InvalidEntry) {
        var configuration = configuration
        configuration.openLibraryURL = configuration.openLibraryURL.map(withoutSlash)
        configuration.openLibraryCoversURL = configuration.openLibraryCoversURL.map(withoutSlash)
        configuration.googleBooksURL = configuration.googleBooksURL.map(withoutSlash)
        configuration.isbnDBURL = configuration.isbnDBURL.map(withoutSlash)
        let fetcher = try configuration.fetcher(reaching: [
            configuration.openLibraryURL, configuration.googleBooksURL, configuration.isbnDBURL,
        ])
        self.init(configuration, fetcher: fetcher, limits: limits, onFailure: onFailure)
    }
}

extension CoverSources {
    /// The access to web searches, which are one of the sources of covers if there is a key.
    package struct WebAccess: Sendable {
        package var url: String
        package var key: String
        package var model: String

        package init(url: String, key: String, model: String) {
            self.url = url
            self.key = key
            self.model = model
        }
    }

    /// Creates the configured sources of covers, with a fetcher of their own.
    ///
    /// - Throws: if an entry of `allowed` is neither a host nor a network.
    package convenience init(
        _ configuration: SourceChain.Configuration, chain: SourceChain, web: WebAccess?,
        onFailure: @escaping @Sendable (SourceError) -> Void
    ) throws(FetchAllowList.InvalidEntry) {
        let sources = [
            configuration.openLibraryCoversURL, configuration.openLibraryURL,
            configuration.googleBooksURL, configuration.isbnDBURL,
        ]
        let fetcher = try configuration.fetcher(reaching: sources + [web?.url])
        self.init(
            chain, openLibraryCoversURL: configuration.openLibraryCoversURL.map(withoutSlash),
            webSearch: web.map {
                WebSearch(
                    fetcher, chain.limits, url: withoutSlash($0.url), key: $0.key, model: $0.model)
            },
            fetcher: fetcher, configuredURLs: sources.compactMap { $0 }, onFailure: onFailure)
    }
}

extension SourceChain.Configuration {
    /// Creates a fetcher that may reach private hosts if the operator has configured them.
    ///
    /// URLs in the responses of sources are not trusted. This fetcher is therefore used only for URLs at the configured origins,
    /// and it does not follow redirects to other origins.
    fileprivate func fetcher(
        reaching urls: [String?]
    ) throws(FetchAllowList.InvalidEntry) -> Fetcher {
        let hosts = urls.compactMap { $0.map(host) }
        return Fetcher(
            policy: FetchPolicy(
                userAgent: "Bookplate/1 (+\(contact))",
                allowed: try FetchAllowList(parsing: (allowed + hosts).joined(separator: ","))))
    }
}

/// Returns the host of a URL, such as `[::1]` for `http://[::1]:8080/ol`.
package func host(of url: String) -> String {
    let authority = url.split(separator: "/").dropFirst().first ?? ""
    let isBracketed = authority.hasPrefix("[")
    return authority.prefix { $0 != (isBracketed ? "]" : ":") } + (isBracketed ? "]" : "")
}

private func withoutSlash(_ url: String) -> String {
    var url = url
    while url.hasSuffix("/") { url.removeLast() }
    return url
}
