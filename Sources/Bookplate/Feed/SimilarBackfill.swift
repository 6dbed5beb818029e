import Postgres

/// Updates the similar books immediately, as the server does every hour: `bookplate-admin backfill similar`.
package struct SimilarBackfill {
    package struct Summary: Sendable, Equatable {
        package var signals: Int
        /// The number of editions whose similar books were updated.
        package var editions: Int
        package var isIncremental: Bool
    }

    private let connection: AdminConnection

    package init(_ connection: AdminConnection) { self.connection = connection }

    /// Learns and stores the similar books. If the process is stopped, everything written so far is correct, and another run
    /// completes the rest.
    ///
    /// - Parameters:
    ///   - isIncremental: Whether to process only the editions with new signals.
    ///   - isDryRun: Whether to learn without storing the results.
    package func run(
        isIncremental: Bool, isDryRun: Bool = false,
        onProgress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) throws(PostgresError) -> Summary {
        var learning = SimilarLearning(
            try connection.query(SimilarLearning.signals.text),
            changed: try connection.query(SimilarLearning.changedEditions.statement.text).decode(),
            isIncremental: isIncremental)
        var done = 0
        while done < learning.total {
            done = learning.learn()
            onProgress(done, learning.total)
        }
        if !isDryRun {
            for number in 0..<learning.writeCount {
                try connection.query(SimilarLearning.replace.text, learning.write(number))
            }
            try connection.query(SimilarLearning.finish.text, learning.finishing)
            try connection.execute("ANALYZE edition_similar")
        }
        return Summary(
            signals: learning.signalCount, editions: learning.total,
            isIncremental: learning.isIncremental)
    }
}
