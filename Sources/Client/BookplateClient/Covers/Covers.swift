import Foundation

extension Library {
    /// The covers of the library and of the feed.
    public var covers: Covers { Covers(library: self) }
}

/// The images of books and cards. They are kept on the device.
public struct Covers: Sendable {
    let library: Library

    /// The maximum size of a file that `set` takes.
    public static let uploadMax = 25 << 20

    // MARK: Show

    /// Returns an image as a JPEG file: from the device if it is there, otherwise from the server. A new cover that has not been sent is the
    /// file that `set` took.
    ///
    /// - Throws: `BookplateError.unreachable`, or `invalidResponse` with the status 404 if the book has another image now.
    public func data(of image: CoverImage, size: CoverSize = .full) async throws -> Data {
        guard let upload = image.upload else {
            return try await library.coverCache.data(of: image.url(size))
        }
        guard let data = library.uploads.data(of: upload) else {
            throw BookplateError.invalidResponse(status: 404)
        }
        return data
    }

    /// Returns an image that is on the device, in this size or another one. Use it for the first frame of a list.
    public func cachedData(of image: CoverImage, size: CoverSize = .full) -> Data? {
        if let upload = image.upload { return library.uploads.data(of: upload) }
        let others = CoverSize.allCases.reversed().filter { $0 != size }
        for size in [size] + others {
            if let data = library.coverCache.cached(image.url(size)) { return data }
        }
        return nil
    }

    /// Fetches images that are not on the device, four at the same time, for example those of the next screen. Returns whether all of them
    /// are on the device now.
    @discardableResult
    public func prefetch(_ images: [CoverImage], size: CoverSize = .full) async -> Bool {
        var waiting = images.filter {
            $0.upload == nil && !library.coverCache.contains($0.url(size))
        }[...]
        return await withTaskGroup(of: Bool.self) { group in
            func start() {
                guard !Task.isCancelled, let image = waiting.popFirst() else { return }
                group.addTask { (try? await data(of: image, size: size)) != nil }
            }
            for _ in 0..<4 { start() }
            var isComplete = true
            for await isThere in group {
                isComplete = isComplete && isThere
                start()
            }
            return isComplete && waiting.isEmpty
        }
    }

    // MARK: Change

    /// Sets the cover of a book to a JPEG, PNG, WebP, HEIC, AVIF, or GIF file. It is shown at once, and sent later, also after a restart of
    /// the app.
    ///
    /// - Throws: `BookplateError.invalidInput` if the file is empty or larger than `uploadMax`.
    public func set(_ file: Data, of book: String) throws {
        guard !file.isEmpty, file.count <= Self.uploadMax else {
            throw BookplateError.invalidInput(
                "The file of a cover must have at least one byte and at most 25 MiB.")
        }
        let name = library.environment.makeID()
        try library.uploads.add(file, as: name) {
            try library.perform(write(.setCover, book, ["file": .string(name)]))
        }
    }

    /// Sets the cover of a book to the image at an address, which the server fetches.
    public func set(_ url: URL, of book: String) throws {
        try library.perform(write(.setCover, book, ["url": .string(url.absoluteString)]))
    }

    /// Asks the server to search for a cover of a book.
    public func search(for book: String) throws {
        try library.perform(write(.setCover, book, ["search": true]))
    }

    /// Removes the cover of a book, which has a title card then.
    public func remove(of book: String) throws {
        try library.perform(write(.removeCover, book, [:]))
    }

    private func write(_ operation: Operation, _ book: String, _ input: [String: JSON]) -> Write {
        Write(operation, book, input, at: library.environment.timestamp)
    }
}

extension LocalEffect {
    /// Shows the file of a new cover until the server has it.
    func setCover() throws {
        guard let name = write.upload, let url = URL(string: "\(CoverImage.uploadScheme):\(name)")
        else {
            return
        }
        try change(Book.self, write.target) { book in
            book.image = CoverImage(
                url: url, thumbnailUrl: url, largeUrl: url, width: 600, height: 900,
                dominantColor: "#808080", blurHash: "00Eyb[", kind: "HIGH_RESOLUTION")
        }
    }
}

extension CoverImage {
    /// The scheme of the addresses of covers that have not been sent. `Covers` reads them.
    static let uploadScheme = "bookplate-upload"

    /// The name of the file of a cover that has not been sent; nil if the image is at the server.
    var upload: String? {
        guard url.scheme == Self.uploadScheme else { return nil }
        return String(url.absoluteString.dropFirst(Self.uploadScheme.count + 1))
    }
}

extension Write {
    /// The name of the file that is sent with the write.
    var upload: String? { operation == .setCover ? input["file"]?.string : nil }
}
