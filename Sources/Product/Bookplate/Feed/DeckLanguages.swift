/// The languages of the books in a deck, as in `edition_genres`.
///
/// A reader reads the languages of the profile, and those of many liked books. Decks mix these languages in proportion to their weights.
/// When their books are used up, those of the catalog's main language follow, and then those of all others.
struct DeckLanguages {
    /// The languages in which the reader reads, with their parts of a deck. Only the proportions of the weights matter.
    private let own: [(language: String, weight: Float)]
    /// The languages in which the reader reads, and then the catalog's main one. A work is shown by a record in the first of them that
    /// has one.
    let preferred: [String]
    /// The languages whose books are shown together, in the order of the feed.
    let groups: [[String]]

    /// The minimum number of liked books from which a reader reads a language that is not in the profile.
    private static let booksMin = 3
    /// At least every fifth liked book must be in such a language.
    private static let booksPart = 5

    /// - Parameters:
    ///   - profile: The languages of the reader's profile, the most preferred first. If there are none, the catalog's main language counts.
    ///   - catalog: All languages of the catalog, the main one first.
    init(profile: [String], signals: [ReaderSignals.Signal], catalog: [String]) {
        let main = Array(catalog.prefix(1))
        let stated = profile.isEmpty ? main : profile
        let liked = signals.filter { $0.signal.weight > 0 }
        let counts = Dictionary(liked.map { ($0.language, 1) }, uniquingKeysWith: +)
        let learned = counts.filter {
            $0.value >= Self.booksMin && $0.value * Self.booksPart >= liked.count
                && !stated.contains($0.key)
        }.keys.sorted()
        let languages = stated + learned
        own = languages.enumerated().map { index, language in
            // The first language of the profile counts as one liked book, the second as half of one, and so on.
            let rank = index < stated.count ? 1 / Float(index + 1) : 0
            return (language, rank + Float(counts[language] ?? 0))
        }
        preferred = languages + main.filter { !languages.contains($0) }
        groups = [languages, main, catalog].reduce(into: []) { groups, languages in
            let shown = Set(groups.joined())
            let group = languages.filter { !shown.contains($0) }
            if !group.isEmpty { groups.append(group) }
        }
    }

    /// Ranks the candidates of each language of the reader, and mixes them in proportion to the weights. Candidates in other languages
    /// are ranked together.
    ///
    /// - Parameter rank: Returns the best of the given candidates in their order, at most `count`.
    /// - Returns: At most `count` candidates.
    func mix(
        _ candidates: [DeckCandidates.Candidate], count: Int,
        rank: ([DeckCandidates.Candidate]) -> [DeckCandidates.Candidate]
    ) -> [DeckCandidates.Candidate] {
        let lists = Dictionary(grouping: withoutLaterVolumes(candidates)) { candidate in
            own.firstIndex { $0.language == candidate.language } ?? own.count
        }
        .sorted { $0.key < $1.key }
        .map { (weight: $0.key < own.count ? own[$0.key].weight : 1, cards: rank($0.value)) }
        var taken = lists.map { _ in 0 }
        var cards: [DeckCandidates.Candidate] = []
        // Each step takes a card of the language with the fewest cards for its weight, counting this card.
        func part(_ index: Int) -> Float { Float(taken[index] + 1) / lists[index].weight }
        while cards.count < count,
            let next = lists.indices.filter({ taken[$0] < lists[$0].cards.count })
                .min(by: { part($0) < part($1) })
        {
            cards.append(lists[next].cards[taken[next]])
            taken[next] += 1
        }
        return cards
    }

    /// Returns the candidates without the volumes for which an earlier one is only there in another language of the reader, because the
    /// languages are ranked separately. They are candidates again when the reader has seen the earlier volume.
    private func withoutLaterVolumes(
        _ candidates: [DeckCandidates.Candidate]
    ) -> [DeckCandidates.Candidate] {
        guard own.count > 1 else { return candidates }
        func isVolume(_ card: DeckCandidates.Candidate) -> Bool {
            card.item.traits.volume != nil && own.contains { $0.language == card.language }
        }
        let series = Dictionary(
            grouping: candidates.filter(isVolume), by: \.item.traits.series)
        return candidates.filter { card in
            guard isVolume(card), let volume = card.item.traits.volume else { return true }
            let earlier = series[card.item.traits.series, default: []]
                .filter { ($0.item.traits.volume ?? volume) < volume }
            let inLanguage = Set(
                earlier.filter { $0.language == card.language }.map(\.item.traits.volume))
            return earlier.allSatisfy { inLanguage.contains($0.item.traits.volume) }
        }
    }
}
