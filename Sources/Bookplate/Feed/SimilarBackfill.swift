import Postgres

/// Learns similar books now, as the server does every hour: `bookplate-admin backfill similar`.
package struct SimilarBackfill {
    package struct Summary: Sendable, Equatable {
        package var signals: Int
        /// Books of which it was learnt what speaks for them.
        package var editions: Int
        package var isIncremental: Bool
    }

    private let connection: AdminConnection

    package init(_ connection: AdminConnection) { self.connection = connection }

    /// Stopped half-way it can be run again: what is written already is right, and the rest follows.
    ///
    /// - Parameters:
    ///   - isIncremental: only what was spoken of since the last time.
    ///   - isDryRun: everything is learnt, and nothing written.
    package func run(
        isIncremental: Bool, isDryRun: Bool = false,
        onProgress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) throws(PostgresError) -> Summary {
        var learning = SimilarLearning(
            try connection.query(SimilarLearning.signals.text),
            news: try connection.query(SimilarLearning.news.text), isIncremental: isIncremental)
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
