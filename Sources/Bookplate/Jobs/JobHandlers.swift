/// Every kind of background work.
package enum JobHandlers {
    /// A new kind is a line here.
    package static func all(_ services: Services) -> [any JobHandler] {
        [PurgeDeadJobs(), PruneChanges(), ImportLibrary(covers: services.covers)]
    }
}
