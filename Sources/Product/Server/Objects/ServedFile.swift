import GraphQLNIO
import NIOCore
import ObjectStorage

/// An open file, or the bytes of one, with the headers of its responses. Used on one event loop only.
///
/// The content of a small file is kept in memory: a single write with the head costs less than `sendfile` after the
/// head.
final class ServedFile {
    private static let inMemoryBytesMax = 32 << 10

    let byteCount: Int
    let tag: String
    /// The headers of every response whose URL contains a version, serialized.
    let immutableHeaders: String
    private let content: ByteBuffer?
    private let file: (object: OpenObject, open: OpenFile)?

    init(_ object: OpenObject, tag: String) {
        byteCount = object.byteCount
        self.tag = tag
        immutableHeaders = Self.headers(tag, "public, max-age=31536000, immutable")
        content =
            object.byteCount <= Self.inMemoryBytesMax
            ? (try? object.bytes()).map { ByteBuffer(bytes: $0) } : nil
        file = (object, OpenFile(descriptor: object.descriptor, owner: object))
    }

    init(_ bytes: [UInt8], tag: String) {
        byteCount = bytes.count
        self.tag = tag
        immutableHeaders = Self.headers(tag, "public, max-age=31536000, immutable")
        content = ByteBuffer(bytes: bytes)
        file = nil
    }

    /// Whether the file was removed from the store, as far as this machine can tell.
    var isRemoved: Bool { file?.object.isRemoved ?? false }

    static func headers(_ tag: String, _ cacheControl: String) -> String {
        [
            ("ETag", tag), ("Cache-Control", cacheControl), ("Accept-Ranges", "bytes"),
            ("Content-Security-Policy", "default-src 'none'; sandbox"),
            ("Cross-Origin-Resource-Policy", "cross-origin"),
            ("Content-Disposition", "inline; filename=\"cover.jpg\""),
        ].map { "\($0): \($1)\r\n" }.joined()
    }

    /// Makes a part of the content the body of a response.
    func setBody(of response: inout HTTPResponse, to range: Range<Int>) {
        if let bytes = content?.getSlice(at: range.lowerBound, length: range.count) {
            response.body = bytes
        } else {
            response.file = file.map { ($0.open, range) }
        }
    }
}

extension HTTPResponse {
    /// Returns a response with the whole content of an open file.
    package static func file(
        _ object: OpenObject, contentType: String, headers: [(String, String)]
    ) -> HTTPResponse {
        var response = HTTPResponse(.ok, contentType: contentType, headers: headers)
        ServedFile(object, tag: "").setBody(of: &response, to: 0..<object.byteCount)
        return response
    }
}

/// The maximum number of files of images that the routes of an event loop keep open, if there are enough descriptors.
package let imageFilesPerLoopMax = 512

/// A cache of recently requested files, keyed by a URL that contains a version. The content of such a URL never
/// changes.
struct ServedFileCache {
    /// The maximum length of a cached URL. The URLs that this server generates are shorter.
    private static let urlBytesMax = 256

    private var files: [Substring: ServedFile] = [:]
    /// A ring of the keys of `files`. When it is full, `next` is the index of the oldest key, which is replaced first.
    private var order: [Substring] = []
    private var next = 0

    private let countMax: Int

    init(countMax: Int) { self.countMax = countMax }

    /// Returns the file of a URL; nil if it is not in the cache or was removed from the store.
    mutating func file(at address: Substring) -> ServedFile? {
        guard let file = files[address] else { return nil }
        guard !file.isRemoved else {
            files[address] = nil
            return nil
        }
        return file
    }

    mutating func insert(_ file: ServedFile, at address: Substring) {
        guard countMax > 0, address.utf8.count <= Self.urlBytesMax else { return }
        // Copies the URL: a substring would keep the whole string alive, which may be as long as a header.
        let address = String(address)[...]
        guard files.updateValue(file, forKey: address) == nil else { return }
        if order.count < countMax {
            order.append(address)
        } else {
            files[order[next]] = nil
            order[next] = address
            next = (next + 1) % countMax
        }
    }
}
