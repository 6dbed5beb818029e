import BookSources
import Bookplate
import Config
import Logging
import Postgres
import Telemetry

/// The configured external sources of books and covers, with the limits that all their requests share.
struct ExternalSources {
    let books: SourceChain
    let covers: CoverSources

    /// - Parameter database: The database that counts the daily budgets.
    init(
        _ configuration: Config.Configuration, database: ConnectionPool, _ metrics: Metrics,
        _ logger: Logger
    ) throws {
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
        let budgets = SourceBudgets(settings.budgets.byHost, database)
        let limits = SourceLimits(
            budget: budgets.requestBudget, onEvent: { logger.log($0) })
        metrics.report(limits, budgets.limits, database: database)
        let failures = FailureLog(logger)
        books = try SourceChain(sources, limits: limits) { source, error in
            if !error.isPause { failures.failed(source.rawValue, error) }
        }
        covers = try CoverSources(sources, chain: books, web: settings.webAccess) { error in
            if !error.isPause { failures.failed("web_search", error) }
        }
    }
}

extension Config.Configuration.Sources {
    /// nil if no key is configured.
    fileprivate var webAccess: CoverSources.WebAccess? {
        guard let openAIURL, let openAIKey else { return nil }
        return CoverSources.WebAccess(url: openAIURL, key: openAIKey, model: openAIModel)
    }
}

extension Config.Configuration.SourceBudgets {
    fileprivate var byHost: [SourceHost: Int] {
        Dictionary(
            requestsPerDay.compactMap { source, count in
                SourceHost(rawValue: source.rawValue).map { ($0, count) }
            }, uniquingKeysWith: { first, _ in first })
    }
}

extension Logger {
    fileprivate func log(_ event: SourceEvent) {
        switch event {
        case .circuitOpened(let host, let pause):
            warning(
                "a source is unreachable and is paused",
                metadata: [
                    "source": "\(host.rawValue)",
                    "seconds": .stringConvertible(pause.components.seconds),
                ])
        case .circuitClosed(let host):
            notice("a source is reachable again", metadata: ["source": "\(host.rawValue)"])
        case .budgetExhausted(let host, let priority, let resetsIn):
            warning(
                "the daily budget of a source is used up",
                metadata: [
                    "source": "\(host.rawValue)", "priority": "\(priority.rawValue)",
                    "resets_in_seconds": .stringConvertible(resetsIn.components.seconds),
                ])
        }
    }
}
