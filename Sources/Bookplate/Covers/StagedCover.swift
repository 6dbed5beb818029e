import ImageProcessing
import ObjectStorage
import Postgres

/// A cover whose files are in the store and whose row is not there yet.
struct StagedCover: Sendable {
    let user: UUID
    let book: UUID
    let source: CoverSource
    let images: CoverImages
    /// Of the thumbnail, the full and the large size.
    let hashes: [[UInt8]]
    let pending: PendingWrite

    /// Adds the statement that makes it the book's cover; its row is the version that is the cover now.
    func append(to segment: inout Pipeline) {
        var parameters = parameters
        parameters.append(timestamptz: nil)
        segment.append(Self.setCover, parameters)
    }

    /// Adds the statement that makes it the book's cover where the book still waits for it; its row is the version
    /// that is the cover now, or null where it does not.
    func appendFound(to segment: inout Pipeline, wantedAt: Int64?) {
        segment.append(Self.setFoundCover, foundParameters(wantedAt: wantedAt))
    }

    /// Of `setFoundCover`.
    func foundParameters(wantedAt: Int64?) -> Parameters {
        var parameters = parameters
        parameters.append(timestamptz: wantedAt)
        return parameters
    }

    private var parameters: Parameters {
        var parameters = Parameters.of(user, book)
        parameters.append(text: pending.version)
        parameters.append(text: source.rawValue, as: .inferred)
        parameters.append(int32: Int32(images.full.width))
        parameters.append(int32: Int32(images.full.height))
        parameters.append(text: images.dominantColor)
        parameters.append(text: images.blurHash)
        parameters.append(
            int32s: [images.thumbnail, images.full, images.large].map { Int32($0.bytes.count) })
        parameters.appendArray(of: .bytea) { elements in
            for hash in hashes {
                hash.withUnsafeBytes { elements.append(cell: $0) }
            }
        }
        return parameters
    }

    private static let setCover = Statement(
        "SELECT set_cover($1, $2, $3, $4::cover_source, $5, $6, $7, $8, $9, $10, $11)")
    static let setFoundCover = Statement(
        "SELECT set_found_cover($1, $2, $3, $4::cover_source, $5, $6, $7, $8, $9, $10, $11)")
}

extension Pipeline {
    /// Adds a look at the versions that transactions of the user, this one too, have left behind.
    mutating func appendRemovedCovers(of user: UUID) {
        append(removedCovers, .of(user))
    }

    /// Adds the end of removed versions whose files are gone.
    mutating func forget(_ removed: [RemovedCover], of user: UUID) {
        var parameters = Parameters.of(user)
        parameters.append(uuids: removed.map(\.book))
        parameters.append(texts: removed.map(\.version))
        append(forgetRemovedCovers, parameters)
    }
}

private let removedCovers = Statement(
    """
    SELECT book_id, version FROM removed_covers WHERE user_id = $1 AND kept_until IS NULL LIMIT 200
    """)

private let forgetRemovedCovers = Statement(
    """
    DELETE FROM removed_covers r USING unnest($2::uuid[], $3::text[]) AS g (book_id, version) \
    WHERE r.user_id = $1 AND r.book_id = g.book_id AND r.version = g.version
    """)

extension RemovedCover {
    static func all(_ rows: Rows) -> [RemovedCover] {
        (0..<rows.count).compactMap { row in
            guard let book = rows.uuid(row, 0), let version = rows.text(row, 1) else { return nil }
            return RemovedCover(book: book, version: version)
        }
    }
}

extension RequestContext {
    /// Removes what a mutation's `appendRemovedCovers` has found, if it is anything.
    func removeCovers(_ rows: Rows?) async {
        guard let rows, rows.count > 0, let user = viewer?.userID else { return }
        let gone = await services.covers.removeFiles(RemovedCover.all(rows), of: user)
        guard !gone.isEmpty else { return }
        // What stays written here is removed again, which does nothing.
        _ = try? await write { segment, viewer throws(BookplateError) in
            segment.forget(gone, of: viewer.userID)
        }
    }
}
