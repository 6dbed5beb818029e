import Basics
import ImageProcessing
import ObjectStorage
import Postgres

/// Images for books without a cover. A card is drawn at its first request and then kept in the store.
actor TitleCards {
    private let store: any ObjectStore
    private let images: ImagerPool
    /// The cards that are being drawn.
    private var drawing: [ObjectPath: Task<Result<Void, Failure>, Never>] = [:]

    enum Failure: Error {
        case image(ImageError)
        case store(ObjectError)
    }

    init(store: any ObjectStore, images: ImagerPool) {
        self.store = store
        self.images = images
    }

    /// Draws a card unless it is in the store. Concurrent requests for the same card share one drawing.
    func draw(
        _ card: TitleCard, version: String, as key: ObjectKey
    ) async throws(Failure) {
        guard let path = ObjectPath(key, version: version, .full) else {
            // Impossible: a version consists of 32 hexadecimal digits.
            throw .image(.unavailable("The version of the title card is invalid."))
        }
        let byteCount = try await mappingError(Failure.store) { () async throws(ObjectError) in
            try await store.byteCount(path)
        }
        if byteCount != nil { return }
        if let drawing = drawing[path] { return try await drawing.value.get() }
        let task = Task { [store, images] in
            await Result { () async throws(Failure) in
                let drawn = try await mappingError(Failure.image) { () async throws(ImageError) in
                    try await images.titleCard(card)
                }
                try await mappingError(Failure.store) { () async throws(ObjectError) in
                    // The version follows from the book's row, which exists. Another server may draw the same card, so a
                    // failure must not remove its files.
                    try await store.restore(
                        key, version: version,
                        [.thumbnail: drawn.thumbnail.bytes, .full: drawn.full.bytes])
                }
            }
        }
        drawing[path] = task
        let result = await task.value
        drawing[path] = nil
        try result.get()
    }
}

extension TitleCard: RowDecodable {
    /// Reads a title, an author, and a genre.
    package init?(_ row: inout RowReader) {
        guard let title = row.text() else { return nil }
        self.init(title: title, author: row.text(), genre: row.text())
    }
}

extension Result {
    fileprivate init(_ work: () async throws(Failure) -> Success) async {
        do throws(Failure) {
            self = .success(try await work())
        } catch {
            self = .failure(error)
        }
    }
}
