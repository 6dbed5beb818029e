import HTTPFetch

extension SourceChain {
    /// The sources that are configured, reached by a fetcher of their own.
    ///
    /// - Throws: for an entry of `allowed` that is neither a host nor a network.
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
    /// A search of the web is one of the sources where there is a key for it.
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

    /// The places that are configured, reached by a fetcher of their own.
    ///
    /// - Throws: for an entry of `allowed` that is neither a host nor a network.
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
            fetcher: fetcher, operatorsURLs: sources.compactMap { $0 }, onFailure: onFailure)
    }
}

extension SourceChain.Configuration {
    /// The operator's own settings may name private hosts. What a source says is a stranger's word: this fetcher is given addresses
    /// at the configured origins only, and no redirect away from them is followed by it.
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

/// `[::1]` of `http://[::1]:8080/ol`.
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
