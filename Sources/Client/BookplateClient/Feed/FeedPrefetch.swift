/// How much of the feed is kept on the device, for `Library.run`.
public struct FeedPrefetch: Hashable, Sendable {
    /// Only books of these genres, by the ids or names of `Query.genres`. Empty for all books.
    public var genres: [String]
    /// The number of cards to keep, from 10 to 200.
    public var cards: Int
    /// The number of cards whose images are kept, too.
    public var images: Int

    /// Creates the settings.
    public init(genres: [String] = [], cards: Int = 40, images: Int = 20) {
        self.genres = genres
        self.cards = min(max(cards, 10), 200)
        self.images = images
    }

    /// The number of cards in a page.
    var pageSize: Int { min(cards / 2, 20) }
}
