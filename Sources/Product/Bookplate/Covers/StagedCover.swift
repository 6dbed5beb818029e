import ImageProcessing
import ObjectStorage
import Postgres
import Requests

/// A cover whose files are in the store but which is not yet in the table `covers`.
package struct StagedCover: Sendable {
    let user: UUID
    let book: UUID
    let source: CoverSource
    let images: CoverImages
    /// The SHA-256 hashes of the thumbnail, the full, and the large size.
    let hashes: [[UInt8]]
    let pending: PendingWrite

    /// Adds the statement that makes this the book's cover. Its row has the current version of the book's cover.
    ///
    /// - Returns: The key of that version.
    func append(to pipeline: inout Pipeline) -> ResultKey<String> {
        var parameters = parameters
        parameters.append(timestamptz: nil)
        return pipeline.append(Self.setCover, parameters)
    }

    /// Adds the statement that makes this the book's cover if the book still waits for it.
    ///
    /// - Returns: The key of the current version of the book's cover. It has no row if the book does not wait for the
    ///   cover.
    func appendFound(to pipeline: inout Pipeline, requestedAt: Int64?) -> ResultKey<String> {
        pipeline.append(Self.setFoundCover, foundParameters(requestedAt: requestedAt))
    }

    /// The parameters of `setFoundCover`.
    package func foundParameters(requestedAt: Int64?) -> Parameters {
        var parameters = parameters
        parameters.append(timestamptz: requestedAt)
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

    private static let setCover = TypedStatement<String>(
        "SELECT set_cover($1, $2, $3, $4::cover_source, $5, $6, $7, $8, $9, $10, $11)")
    package static let setFoundCover = TypedStatement<String>(
        "SELECT set_found_cover($1, $2, $3, $4::cover_source, $5, $6, $7, $8, $9, $10, $11)")
}

extension Pipeline {
    /// Adds a query of the versions that this and earlier transactions of the user have replaced or removed, and whose
    /// files may still exist.
    @discardableResult
    mutating func appendRemovedCovers(of user: UUID) -> ResultKey<RemovedCover> {
        append(removedCovers, .of(user))
    }

    /// Adds a statement that forgets removed versions after their files were deleted.
    mutating func forget(_ removed: [RemovedCover], of user: UUID) {
        var parameters = Parameters.of(user)
        parameters.append(uuids: removed.map(\.book))
        parameters.append(texts: removed.map(\.version))
        append(forgetRemovedCovers, parameters)
    }
}

private let removedCovers = TypedStatement<RemovedCover>(
    """
    SELECT book_id, version
    FROM removed_covers
    WHERE user_id = $1 AND kept_until IS NULL
    LIMIT 200
    """)

private let forgetRemovedCovers = Statement(
    """
    DELETE FROM removed_covers r
    USING unnest($2::uuid[], $3::text[]) AS g (book_id, version)
    WHERE r.user_id = $1 AND r.book_id = g.book_id AND r.version = g.version
    """)

extension RequestContext {
    /// Removes the files of the versions that a mutation's `appendRemovedCovers` has found.
    func removeCovers(_ rows: Rows) async {
        await removeCovers(rows.decode())
    }

    /// Removes the files of the versions that a mutation's `appendRemovedCovers` has found.
    func removeCovers(_ removed: [RemovedCover]) async {
        guard !removed.isEmpty, let user = viewer?.userID else { return }
        let deleted = await services.covers.removeFiles(removed, of: user)
        guard !deleted.isEmpty else { return }
        // If this fails, the next call removes the same files again, which has no effect.
        _ = try? await write { pipeline, viewer throws(BookplateError) in
            pipeline.forget(deleted, of: viewer.userID)
        }
    }
}
