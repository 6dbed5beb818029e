import HTTPFetch

extension SourceChain {
    /// The sources that are configured, reached by a fetcher of their own.
    ///
    /// - Throws: for an entry of `allowed` that is neither a host nor a network.
    package convenience init(
        _ configuration: Configuration,
        onFailure: @escaping @Sendable (SourceName, SourceError) -> Void
    ) throws(FetchAllowList.InvalidEntry) {
        var configuration = configuration
        configuration.openLibraryURL = configuration.openLibraryURL.map(withoutSlash)
        configuration.openLibraryCoversURL = configuration.openLibraryCoversURL.map(withoutSlash)
        configuration.googleBooksURL = configuration.googleBooksURL.map(withoutSlash)
        configuration.isbnDBURL = configuration.isbnDBURL.map(withoutSlash)
        // The operator's own setting may name a private host; nothing a stranger says comes here.
        let hosts = [
            configuration.openLibraryURL, configuration.googleBooksURL, configuration.isbnDBURL,
        ].compactMap { $0.map(host) }
        let allowed = try FetchAllowList(
            parsing: (configuration.allowed + hosts).joined(separator: ","))
        let fetcher = Fetcher(
            policy: FetchPolicy(
                userAgent: "Bookplate/1 (+\(configuration.contact))", allowed: allowed))
        self.init(configuration, fetcher: fetcher, onFailure: onFailure)
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
