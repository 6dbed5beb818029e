/// The progress of a backfill that looks up rows of the catalog in external sources.
package struct LookupProgress: Sendable, Equatable {
    /// The number of rows that were looked up.
    package var lookedUp = 0
    /// The number of these about which a source had something.
    package var found = 0
    /// The number of rows for which no source could answer. The next run looks them up again.
    package var unavailable = 0

    package init() {}

    /// Whether no source has answered any lookup.
    package var isUnavailable: Bool { lookedUp == 0 && unavailable > 0 }

    /// The number of concurrent lookups.
    private static let batchMax = 8

    /// Processes batches until there are no more rows. Ends early if no source answers any lookup of a batch, because the next
    /// batch would be the same one.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of rows.
    ///   - next: Returns the next rows, at most the given number.
    ///   - beforeBatch: Called before each batch. An error that it throws ends the run.
    ///   - onProgress: Called after each batch with the number of its rows that were looked up.
    ///   - process: Looks up the rows of a batch and saves the results.
    static func ofBatches<Row>(
        limit: Int, next: (Int) throws -> [Row], beforeBatch: () throws -> Void,
        onProgress: (Int) -> Void, process: ([Row]) async throws -> LookupProgress
    ) async throws -> LookupProgress {
        var total = LookupProgress()
        while total.lookedUp < limit {
            try beforeBatch()
            let rows = try next(min(batchMax, limit - total.lookedUp))
            if rows.isEmpty { break }
            let batch = try await process(rows)
            total.lookedUp += batch.lookedUp
            total.found += batch.found
            total.unavailable += batch.unavailable
            onProgress(batch.lookedUp)
            if batch.lookedUp == 0 { break }
        }
        return total
    }
}
