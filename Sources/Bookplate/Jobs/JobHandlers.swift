/// Every kind of background work.
package enum JobHandlers {
    /// A new kind is a line here.
    package static func all(_ services: Services) -> [any JobHandler] {
        [
            PurgeDeadJobs(), PruneChanges(), ExchangeAppleCode(services: services),
            RevokeAppleGrant(services: services),
        ]
    }
}
