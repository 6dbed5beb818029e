import ImageProcessing
import ObjectStorage
import Postgres

/// Pictures for books that have none: drawn when first looked at, then kept.
actor TitleCards {
    private let store: any ObjectStore
    private let images: ImagerPool
    /// Cards that are being drawn, by key.
    private var drawing: [ObjectKey: Task<Result<Void, ImageError>, Never>] = [:]

    init(store: any ObjectStore, images: ImagerPool) {
        self.store = store
        self.images = images
    }

    /// Sees to it that a card is in the store.
    func draw(_ card: TitleCard, as key: ObjectKey) async throws(ImageError) {
        let version = card.version
        if let path = ObjectPath(key, version: version, .full),
            (try? await store.open(path)) != nil
        {
            return
        }
        // Whoever asks meanwhile waits for the same drawing; what stands on it is then looked at again.
        if let drawing = drawing[key] { return try await drawing.value.get() }
        let task = Task { [store, images] in
            await Result { () async throws(ImageError) in
                let drawn = try await images.titleCard(card)
                do throws(ObjectError) {
                    let write = try await store.write(
                        key, version: version,
                        [.thumbnail: drawn.thumbnail.bytes, .full: drawn.full.bytes])
                    await store.settle(write)
                } catch {
                    throw ImageError.unavailable(error.description)
                }
            }
        }
        drawing[key] = task
        let result = await task.value
        drawing[key] = nil
        try result.get()
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
