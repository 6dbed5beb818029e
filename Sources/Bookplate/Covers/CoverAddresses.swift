import Identity
import ImageProcessing
import ObjectStorage
import Postgres

/// What clients are told of where pictures are. Addresses with a version never change what they show.
struct CoverAddresses: Sendable {
    /// Of this server as clients see it, without a slash at its end.
    let publicURL: String

    func cover(
        _ user: UUID, _ book: UUID, _ version: String, _ variant: ObjectVariant = .full
    ) -> String {
        let size = variant == .full ? "" : "size=\(variant.rawValue)&"
        return "\(publicURL)/\(Bucket.bookCovers.rawValue)/\(user)/\(book).jpg?\(size)v=\(version)"
    }

    func cover(ofEdition edition: UUID, _ version: String) -> String {
        "\(publicURL)/\(Bucket.editionCovers.rawValue)/\(edition).jpg?v=\(version)"
    }

    func titleCard(of edition: UUID, _ card: TitleCard) -> String {
        "\(publicURL)/\(Bucket.titleCards.rawValue)/\(edition).jpg?v=\(card.version)"
    }

    func titleCard(of book: UUID, _ user: UUID, _ card: TitleCard) -> String {
        "\(publicURL)/\(Bucket.titleCards.rawValue)/\(user)/\(book).jpg?v=\(card.version)"
    }
}

extension TitleCard {
    /// How cards are drawn; another number makes all of them anew.
    private static let style = "1"

    /// Follows from what stands on it, so that it is known without drawing.
    var version: String {
        let text = [Self.style, title, author ?? "", genre ?? ""].joined(separator: "\u{0}")
        return String(lowercaseHex(sha256(text.utf8)).prefix(32))
    }
}
