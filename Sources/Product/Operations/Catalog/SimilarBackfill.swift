import Bookplate
import Postgres

/// Updates the similar books immediately, as the server does every hour: `bookplate-admin backfill similar`.
package struct SimilarBackfill {
    package struct Summary: Sendable, Equatable {
        /// The number of signals of all readers.
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
    ///   - isIncremental: Whether to process only the readers and editions with new signals.
    ///   - isDryRun: Whether to learn without storing the results, from the signals that were collected last.
    package func run(
        isIncremental: Bool, isDryRun: Bool = false,
        onProgress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) throws(PostgresError) -> Summary {
        if !isDryRun { try collectSignals(ofEveryone: !isIncremental) }
        let changed: [SimilarLearning.ChangedWork] = try connection.query(
            SimilarLearning.changedWorks.statement.text
        ).decode()
        var learning = SimilarLearning(
            try connection.query(SimilarLearning.signals.text), changed: changed,
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
            try connection.execute("ANALYZE edition_similar, edition_similar_sources")
        }
        return Summary(
            signals: learning.signalCount, editions: learning.total,
            isIncremental: learning.isIncremental)
    }

    private func collectSignals(ofEveryone isEveryone: Bool) throws(PostgresError) {
        var parameters = Parameters()
        parameters.append(bool: isEveryone)
        try connection.query(SignalCollection.find.text, parameters)
        while try connection.query(SignalCollection.collect.text).int32(0, 0) ?? 0 > 0 {}
    }
}
