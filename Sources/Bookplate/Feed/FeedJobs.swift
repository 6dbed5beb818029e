import JobQueue
import Postgres
import Ranking

/// Counts popularity anew, gives books their places by it and deals the opening; readers wait for none of it.
struct RefreshFeed: JobHandler {
    static let kind = "feed.refresh"
    static let settings = JobSettings(
        concurrency: 1, timeout: .seconds(1800), every: .seconds(3600))

    /// The cards of the opening: whoever has seen so many has said something.
    private static let cardsMax = 100

    private static let refresh = Statement("SELECT refresh_feed()")
    /// The most popular that are described well.
    private static let popular = Statement(
        """
        SELECT o.edition_id, o.primary_id, e.author_key, e.series_key FROM genres g CROSS JOIN LATERAL (\
        SELECT o.edition_id, o.primary_id, o.position FROM feed_order o WHERE o.genre_id = g.id AND o.primary_id = g.id \
        AND o.position < \(FeedPosition.firstTierEnd) \
        AND NOT EXISTS (SELECT FROM work_records w WHERE w.edition_id = o.edition_id AND w.rank > 1 OFFSET 0) ORDER BY o.position LIMIT 300) o \
        JOIN editions e ON e.id = o.edition_id ORDER BY o.position LIMIT 1000
        """)
    private static let deal = Statement("SELECT deal_opening($1, $2::int2[])")
    private static let dealOutdated = Statement("SELECT deal_outdated_decks($1)")

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        _ = try await job.write { segment in
            segment.takeLong()
            segment.append(Self.refresh)
        }
        let rows = try await job.read { $0.append(Self.popular) }[0]
        let genres = (0..<rows.count).map { rows.int32($0, 1) ?? 0 }
        let items = (0..<rows.count).map { row in
            FeedItem(
                affinity: 0, popularity: 0, genre: Int16(truncatingIfNeeded: genres[row]),
                origin: Origin(author: rows.int32(row, 2) ?? 0, series: rows.int32(row, 3) ?? 0))
        }
        let order = FeedRanking.coldStartDeck(items, count: Self.cardsMax)
        _ = try await job.write { segment in
            var parameters = Parameters()
            parameters.append(uuids: order.compactMap { rows.uuid($0, 0) })
            parameters.append(int32s: order.map { genres[$0] })
            segment.append(Self.deal, parameters)
        }
        // A refresh that has moved much has outdated what is known of readers' places.
        var reader: UUID? = UUID(high: 0, low: 0)
        while let last = reader, !Task.isCancelled {
            let rows = try await job.write { $0.append(Self.dealOutdated, .of(last)) }[0]
            reader = rows.uuid(0, 0)
        }
    }
}

/// Learns what was spoken of since the last time (`SimilarLearning`).
struct LearnSimilar: JobHandler {
    static let kind = "feed.similar"
    static let settings = JobSettings(
        concurrency: 1, timeout: .seconds(1800), every: .seconds(3600))

    func run(_ payload: NoPayload, in job: JobContext) async throws(JobError) {
        var learning = try await learning(job)
        while learning.learn() < learning.total {
            if Task.isCancelled { throw .retry("The server stopped.") }
            await Task.yield()
        }
        for number in 0..<learning.writeCount {
            let parameters = learning.write(number)
            _ = try await job.write { segment in
                segment.takeLong()
                segment.append(SimilarLearning.replace, parameters)
            }
        }
        let finishing = learning.finishing
        _ = try await job.write { segment in
            // A refresh that is under way holds the feed's state.
            segment.takeLong()
            segment.append(SimilarLearning.finish, finishing)
        }
        job.logger.info(
            "similar books are learnt",
            metadata: ["editions": "\(learning.total)", "signals": "\(learning.signalCount)"])
    }

    /// By itself, so that the rows are let go of before anything is learnt.
    private func learning(_ job: JobContext) async throws(JobError) -> SimilarLearning {
        let rows = try await job.read { segment in
            segment.takeLong()
            segment.append(SimilarLearning.signals)
            segment.append(SimilarLearning.news)
        }
        return SimilarLearning(rows[1], news: rows[2], isIncremental: true)
    }
}

extension Pipeline {
    private static let takeLong = Statement(
        "SELECT set_config('statement_timeout', '600000', true)")

    /// What follows may take minutes: it is upkeep, which no request waits for.
    fileprivate mutating func takeLong() {
        timeout = .seconds(600)
        append(Self.takeLong)
    }
}
