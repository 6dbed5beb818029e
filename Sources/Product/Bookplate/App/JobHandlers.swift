import JobQueue
import Requests

/// All kinds of background jobs.
package enum JobHandlers {
    /// Add new kinds of jobs here.
    package static func all(_ services: Services) -> [any JobHandler] {
        let search = CoverSearch(
            services.coverSources, covers: services.covers, metrics: services.metrics)
        return [
            PurgeDeadJobs(), PruneChanges(), PruneImports(), PruneOAuth(),
            PruneRateBuckets(),
            ChainAuditEvents(),
            CompleteBook(sources: services.bookSources),
            LinkBooks(),
            ImportLibrary(covers: services.covers, canSearch: !services.coverSources.isEmpty),
            ExchangeAppleCode(services: services), RevokeAppleGrant(services: services),
            RemoveAccountObjects(covers: services.covers), MoveCovers(covers: services.covers),
            DeleteInactiveGuests(services: services),
            DeliverWebhook(services: services), PruneWebhookDeliveries(),
            PrepareDeck(), RefreshFeed(), LearnSimilar(), SweepStorage(services),
            FetchCover(search: search), EndCoverWaits(),
            FetchEditionCover(editions: EditionCovers(services)),
            FetchEditionCovers(editions: EditionCovers(services)),
        ]
    }
}
