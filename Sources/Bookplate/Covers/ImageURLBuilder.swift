import Identity
import ImageProcessing
import ObjectStorage
import Postgres

/// Builds the public URLs of images. A URL with a version always refers to the same image.
struct ImageURLBuilder: Sendable {
    /// The server's public URL, without a trailing slash.
    let publicURL: String

    func cover(
        _ user: UUID, _ book: UUID, _ version: String, _ size: ObjectVariant = .full
    ) -> String {
        url(.bookCovers, "\(user)/\(book)", version, size)
    }

    func cover(ofEdition edition: UUID, _ version: String, _ size: ObjectVariant) -> String {
        url(.editionCovers, "\(edition)", version, size)
    }

    func titleCard(of edition: UUID, _ card: TitleCard, _ size: ObjectVariant) -> String {
        url(.titleCards, "\(edition)", card.version, card.stored(size))
    }

    func titleCard(
        of book: UUID, _ user: UUID, _ card: TitleCard, _ size: ObjectVariant
    ) -> String {
        url(.titleCards, "\(user)/\(book)", card.version, card.stored(size))
    }

    private func url(
        _ bucket: Bucket, _ path: String, _ version: String, _ size: ObjectVariant
    ) -> String {
        let size = size == .full ? "" : "size=\(size.rawValue)&"
        return "\(publicURL)/\(bucket.rawValue)/\(path).jpg?\(size)v=\(version)"
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

    /// Returns the stored size for a requested one. Title cards are drawn in the full size, which is also their largest.
    fileprivate func stored(_ size: ObjectVariant) -> ObjectVariant {
        size == .large ? .full : size
    }
}
