import NIOCore
import ObjectStorage

/// An open file, or the bytes of one, with the headers of its responses. Used on one event loop only.
///
/// The content of a small file is kept in memory: a single write with the head costs less than `sendfile` after the
/// head.
package final class ServedFile {
    private static let inMemoryBytesMax = 32 << 10

    package let byteCount: Int
    package let tag: String
    /// The headers of every response whose URL contains a version, serialized.
    package let immutableHeaders: String
    private let content: ByteBuffer?
    private let file: (object: OpenObject, handle: NIOFileHandle)?

    package init(_ object: OpenObject, tag: String) {
        byteCount = object.byteCount
        self.tag = tag
        immutableHeaders = Self.headers(tag, "public, max-age=31536000, immutable")
        content =
            object.byteCount <= Self.inMemoryBytesMax
            ? (try? object.bytes()).map { ByteBuffer(bytes: $0) } : nil
        file = (
            object, NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: object.descriptor)
        )
    }

    package init(_ bytes: [UInt8], tag: String) {
        byteCount = bytes.count
        self.tag = tag
        immutableHeaders = Self.headers(tag, "public, max-age=31536000, immutable")
        content = ByteBuffer(bytes: bytes)
        file = nil
    }

    deinit {
        // The object closes the descriptor.
        _ = try? file?.handle.takeDescriptorOwnership()
    }

    /// Whether the file was removed from the store, as far as this machine can tell.
    var isRemoved: Bool { file?.object.isRemoved ?? false }

    package static func headers(_ tag: String, _ cacheControl: String) -> String {
        [
            ("ETag", tag), ("Cache-Control", cacheControl), ("Accept-Ranges", "bytes"),
            ("Content-Security-Policy", "default-src 'none'; sandbox"),
            ("Cross-Origin-Resource-Policy", "cross-origin"),
            ("Content-Disposition", "inline; filename=\"cover.jpg\""),
        ].map { "\($0): \($1)\r\n" }.joined()
    }

    /// Returns a part of the content from memory; nil for a large file.
    func bytes(_ range: Range<Int>) -> ByteBuffer? {
        content?.getSlice(at: range.lowerBound, length: range.count)
    }

    /// Returns a part of a file; nil if its content is in memory.
    func region(_ range: Range<Int>) -> FileRegion? {
        file.map {
            FileRegion(
                fileHandle: $0.handle, readerIndex: range.lowerBound, endIndex: range.upperBound)
        }
    }
}

/// A cache of recently requested files, keyed by a URL that contains a version. The content of such a URL never
/// changes.
package struct ServedFileCache {
    static let countMax = 512
    /// The maximum length of a cached URL. The URLs that this server generates are shorter.
    private static let urlBytesMax = 256

    private var files: [Substring: ServedFile] = [:]
    /// A ring of the keys of `files`. When it is full, `next` is the index of the oldest key, which is replaced first.
    private var order: [Substring] = []
    private var next = 0

    package init() {}

    /// Returns the file of a URL; nil if it is not in the cache or was removed from the store.
    package mutating func file(at address: Substring) -> ServedFile? {
        guard let file = files[address] else { return nil }
        guard !file.isRemoved else {
            files[address] = nil
            return nil
        }
        return file
    }

    package mutating func insert(_ file: ServedFile, at address: Substring) {
        guard address.utf8.count <= Self.urlBytesMax else { return }
        // Copies the URL: a substring would keep the whole string alive, which may be as long as a header.
        let address = String(address)[...]
        guard files.updateValue(file, forKey: address) == nil else { return }
        if order.count < Self.countMax {
            order.append(address)
        } else {
            files[order[next]] = nil
            order[next] = address
            next = (next + 1) % Self.countMax
        }
    }
}
