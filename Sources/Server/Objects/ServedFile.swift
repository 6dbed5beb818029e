import NIOCore
import Objects

/// An open file that answers are sent from, and what their heads say. Belongs to one event loop.
///
/// A small one is kept in memory: one write with the head costs less than sending it by the kernel after the head.
final class ServedFile {
    private static let inMemoryBytesMax = 32 << 10

    let object: OpenObject
    let tag: String
    /// Of every answer with a version in its address, as they are sent.
    let lastingHeaders: String
    private let content: ByteBuffer?
    private let handle: NIOFileHandle

    init(_ object: OpenObject, tag: String) {
        self.object = object
        self.tag = tag
        lastingHeaders = Self.headers(tag, "public, max-age=31536000, immutable")
        content =
            object.byteCount <= Self.inMemoryBytesMax
            ? (try? object.bytes()).map { ByteBuffer(bytes: $0) } : nil
        handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: object.descriptor)
    }

    deinit {
        // The object closes it.
        _ = try? handle.takeDescriptorOwnership()
    }

    static func headers(_ tag: String, _ cacheControl: String) -> String {
        [
            ("etag", tag), ("cache-control", cacheControl), ("accept-ranges", "bytes"),
            ("content-security-policy", "default-src 'none'; sandbox"),
            ("cross-origin-resource-policy", "cross-origin"),
            ("content-disposition", "inline; filename=\"cover.jpg\""),
        ].map { "\($0): \($1)\r\n" }.joined()
    }

    /// A part of a small file; nil for a large one.
    func bytes(_ range: Range<Int>) -> ByteBuffer? {
        content?.getSlice(at: range.lowerBound, length: range.count)
    }

    func region(_ range: Range<Int>) -> FileRegion {
        FileRegion(
            fileHandle: handle, readerIndex: range.lowerBound, endIndex: range.upperBound)
    }
}

/// Files that were asked for lately, by their address with a version: what it shows never changes.
struct ServedFiles {
    static let countMax = 512
    /// Of an address that is kept; ours are shorter.
    private static let addressBytesMax = 256

    private var files: [Substring: ServedFile] = [:]
    /// Addresses in the order they came; the oldest goes first.
    private var order: [Substring] = []
    private var next = 0

    /// nil also where the file has been removed meanwhile.
    mutating func file(at address: Substring) -> ServedFile? {
        guard let file = files[address] else { return nil }
        guard !file.object.isRemoved else {
            files[address] = nil
            return nil
        }
        return file
    }

    mutating func keep(_ file: ServedFile, at address: Substring) {
        guard address.utf8.count <= Self.addressBytesMax else { return }
        // A copy where it is a part: the whole may be as long as a header.
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
