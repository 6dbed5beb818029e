import Foundation

/// The images on this device. The content of an address never changes, so a file is valid as long as it exists.
///
/// The folder belongs to one reader, and is removed with the library.
actor CoverCache {
    private let folder: URL
    /// The maximum size of all files in bytes.
    private let limit: Int
    private let transport: any Transport
    /// The size of all files. Nil until the first image is stored.
    private var size: Int?
    private var requests: [URL: Task<Data, any Error>] = [:]

    /// The largest image that is stored. The server's are at most a tenth of this.
    private static let imageMax = 10 << 20

    init(folder: URL, limit: Int, transport: any Transport) {
        self.folder = folder
        self.limit = limit
        self.transport = transport
    }

    /// Returns an image that is on the device.
    nonisolated func cached(_ url: URL) -> Data? {
        let file = file(of: url)
        guard let data = try? Data(contentsOf: file) else { return nil }
        Self.markUsed(file)
        return data
    }

    /// Whether an image is on the device.
    nonisolated func contains(_ url: URL) -> Bool {
        FileManager.default.fileExists(atPath: file(of: url).path)
    }

    /// Returns an image from the device or the server. Concurrent requests for one address are one request.
    func data(of url: URL) async throws -> Data {
        if let data = cached(url) { return data }
        if let request = requests[url] { return try await request.value }
        // The request continues if the view that needed it first has disappeared.
        let request = Task { try await fetch(url) }
        requests[url] = request
        defer { requests[url] = nil }
        return try await request.value
    }

    private func fetch(_ url: URL) async throws -> Data {
        let response = try await transport.response(
            to: HTTPRequest(method: "GET", url: url, headers: ["Accept": "image/*"], body: nil))
        // The sign-in page of a network also has the status 200, and would be kept.
        guard response.status == 200, response.body.starts(with: [0xFF, 0xD8, 0xFF]),
            response.body.count <= Self.imageMax
        else { throw BookplateError.invalidResponse(status: response.status) }
        // A full disk must not hide the image.
        try? store(response.body, at: file(of: url))
        return response.body
    }

    private func store(_ data: Data, at file: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try data.write(to: file, options: .atomic)
        let total = size.map { $0 + data.count } ?? files().reduce(0) { $0 + $1.size }
        size = total
        if total > limit { removeOldest() }
    }

    private struct File {
        let url: URL
        let size: Int
        let usedAt: Date
    }

    private func files() -> [File] {
        let keys: [URLResourceKey] = [.fileSizeKey, .contentModificationDateKey]
        let urls = try? FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: keys)
        return (urls ?? []).map { url in
            let values = try? url.resourceValues(forKeys: Set(keys))
            return File(
                url: url, size: values?.fileSize ?? 0,
                usedAt: values?.contentModificationDate ?? .distantPast)
        }
    }

    /// Removes the images that were used least recently, until a tenth of the limit is free.
    private func removeOldest() {
        let files = files().sorted { ($0.usedAt, $0.url.path) < ($1.usedAt, $1.url.path) }
        var total = files.reduce(0) { $0 + $1.size }
        for file in files where total > limit - limit / 10 {
            guard (try? FileManager.default.removeItem(at: file.url)) != nil else { continue }
            total -= file.size
        }
        size = total
    }

    /// An hour is precise enough, and most uses then change nothing on the disk.
    private static func markUsed(_ file: URL) {
        let now = Date()
        let used = try? file.resourceValues(forKeys: [.contentModificationDateKey])
            .contentModificationDate
        if let used, abs(now.timeIntervalSince(used)) < 3600 { return }
        try? FileManager.default.setAttributes([.modificationDate: now], ofItemAtPath: file.path)
    }

    private nonisolated func file(of url: URL) -> URL {
        folder.appendingPathComponent(Self.name(of: url) + ".jpg")
    }

    /// Two FNV-1a hashes of the address, 128 bits.
    private static func name(of url: URL) -> String {
        var (first, second): (UInt64, UInt64) = (0xcbf2_9ce4_8422_2325, 0x6c62_272e_07bb_0142)
        for byte in url.absoluteString.utf8 {
            first = (first ^ UInt64(byte)) &* 0x100_0000_01b3
            second = (second ^ UInt64(byte)) &* 0x100_0000_01b3 &+ first
        }
        return String(first, radix: 16) + "-" + String(second, radix: 16)
    }
}
