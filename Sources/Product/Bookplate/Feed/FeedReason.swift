import GraphQLPostgres
import Postgres
import Requests

/// `FeedCard.reason`: why a deck of the reader contains a card. Decks store the reasons (`feed_decks.reasons`).
enum FeedReason {
    /// The numbers are those of the stored reasons.
    enum Kind: Int64, CaseIterable {
        /// A later volume of the series of a book that the reader likes.
        case series = 1
        /// By the first author of such a book.
        case author
        /// Similar to such a book.
        case similar
        /// Popular in a genre that the reader likes or prefers. Only its first two genres count: later ones say little about a book.
        case genre
        /// By a followed first author.
        case followed

        var name: String { "\(self)".uppercased() }
    }

    private static let cardID = Column("r.card_id", .uuid)
    private static let likedID = Column("r.liked_id", .uuid)

    static let type: RowType = RowType(
        name: "FeedReason", table: "", scope: "", id: cardID,
        fields: [
            "kind": .column(
                Column(
                    "(ARRAY[\(Kind.allCases.map { "'\($0.name)'" }.joined(separator: ", "))])[r.kind]",
                    .text)),
            "card": .relation(
                RowRelation(
                    .one, FeedCard.type, key: likedID, matching: "e.id",
                    from: "editions e WHERE e.id = $2")),
            "genre": .relation(NamedGenres(Column("r.genres", .texts), shape: .one)),
        ])

    /// The field `FeedCard.reason`: the reason in the newest deck of the reader that contains the card, whatever query has returned the
    /// card. Only the latest decks are searched. A scroll has one for 30 to 100 cards.
    ///
    /// Relies on this plan: for each card, the newest decks by the key until one contains it, and the edition by `editions_number`.
    static let ofCard = RowRelation(
        .one, type, key: FeedCard.id, matching: "r.card_id",
        from: """
            (
                SELECT k.id AS card_id, c.kind, liked.id AS liked_id, array_remove(ARRAY[g.name], NULL) AS genres
                FROM editions k
                CROSS JOIN LATERAL (
                    SELECT (d.reason >> 32)::int4 AS kind, d.reason & 4294967295 AS number
                    FROM (
                        SELECT d.reasons[array_position(d.editions, k.id)] AS reason
                        FROM feed_decks d
                        WHERE d.user_id = $1
                        ORDER BY d.chain DESC, d.number DESC
                        LIMIT 20
                    ) d
                    WHERE d.reason IS NOT NULL
                    LIMIT 1
                ) c
                LEFT JOIN LATERAL (
                    SELECT e.id
                    FROM editions e
                    WHERE e.number = c.number AND c.kind <> \(Kind.genre.rawValue)
                    OFFSET 0
                ) liked ON true
                LEFT JOIN genres g ON g.id = c.number AND c.kind = \(Kind.genre.rawValue)
                WHERE k.id = $2
                    AND (liked.id IS NOT NULL OR g.name IS NOT NULL OR c.kind = \(Kind.followed.rawValue))
            ) r
            """)

    /// Finds the reasons for the cards of a deck.
    struct Finder {
        /// The latest liked book of each author, and the liked volumes of each series.
        private var authors: [Int32: ReaderSignals.Signal] = [:]
        private var series: [Int64: [(position: Float, liked: ReaderSignals.Signal)]] = [:]
        private let signals: [ReaderSignals.Signal]
        private let genres: Set<Int16>
        private let followedAuthors: Set<Int32>

        /// - Parameters:
        ///   - signals: The reader's signals, newest first.
        ///   - genres: The genres that the reader likes or prefers.
        ///   - followedAuthors: The followed authors.
        init(
            _ signals: [ReaderSignals.Signal], genres: some Sequence<Int16>,
            followedAuthors: [Int32]
        ) {
            self.signals = signals
            self.genres = Set(genres)
            self.followedAuthors = Set(followedAuthors)
            for signal in signals where signal.signal.weight > 0 {
                let traits = signal.signal.traits
                if traits.author != 0 {
                    authors[traits.author] = authors[traits.author] ?? signal
                }
                if traits.series != 0, let position = traits.seriesPosition {
                    series[traits.series, default: []].append((position, signal))
                }
            }
        }

        /// Returns the reason as it is stored: the kind times 2^32, plus the number of the edition or genre; 0 for none.
        func reason(for candidate: DeckCandidates.Candidate) -> Int64 {
            let traits = candidate.item.traits
            if let position = traits.seriesPosition,
                let earlier = series[traits.series]?.filter({ $0.position < position }),
                let last = earlier.max(by: { $0.position < $1.position })
            {
                return Self.stored(.series, last.liked.number)
            }
            if followedAuthors.contains(traits.author) { return Self.stored(.followed, 0) }
            if traits.author != 0, let liked = authors[traits.author] {
                return Self.stored(.author, liked.number)
            }
            // A disliked book may lead to a card, too, which its readers dislike.
            if let strongest = candidate.strongestSignal.map({ signals[$0] }),
                strongest.signal.weight > 0, candidate.item.affinity > 0
            {
                return Self.stored(.similar, strongest.number)
            }
            if let genre = traits.genres.prefix(2).first(where: genres.contains) {
                return Self.stored(.genre, Int64(genre))
            }
            return 0
        }

        private static func stored(_ kind: Kind, _ number: Int64) -> Int64 {
            kind.rawValue << 32 | number
        }
    }
}
