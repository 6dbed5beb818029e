/// Every kind of background work.
package enum JobHandlers {
    /// A new kind is a line here.
    package static func all(_ services: Services) -> [any JobHandler] {
        [
            PurgeDeadJobs(), PruneChanges(), PruneImports(),
            CompleteBook(sources: services.bookSources),
            ImportLibrary(covers: services.covers), ExchangeAppleCode(services: services),
            RevokeAppleGrant(services: services), RemoveAccountObjects(covers: services.covers),
            PrepareDeck(), RefreshFeed(), LearnSimilar(), SweepStorage(services),
            FetchEditionCover(editions: EditionCovers(services)),
            FetchEditionCovers(editions: EditionCovers(services)),
        ]
    }
}
