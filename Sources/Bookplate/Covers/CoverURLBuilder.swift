import Identity
import ImageProcessing
import ObjectStorage
import Postgres

/// Builds the public URLs of images. A URL with a version always refers to the same image.
struct CoverURLBuilder: Sendable {
    /// The server's public URL, without a trailing slash.
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
    /// The version of the drawing code. Incrementing it invalidates all stored title cards.
    private static let style = "1"

    /// A hash of the card's text and style, so the URL is known before the card is drawn.
    var version: String {
        let text = [Self.style, title, author ?? "", genre ?? ""].joined(separator: "\u{0}")
        return String(lowercaseHex(sha256(text.utf8)).prefix(32))
    }
}
