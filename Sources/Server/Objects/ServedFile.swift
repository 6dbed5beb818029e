import NIOCore
import Objects

/// An open file that answers are sent from by the kernel, and what its head says. Belongs to one event loop.
final class ServedFile {
    let object: OpenObject
    let tag: String
    private let handle: NIOFileHandle

    init(_ object: OpenObject, tag: String) {
        self.object = object
        self.tag = tag
        handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: object.descriptor)
    }

    deinit {
        // The object closes it.
        _ = try? handle.takeDescriptorOwnership()
    }

    func region(_ range: Range<Int>) -> FileRegion {
        FileRegion(
            fileHandle: handle, readerIndex: range.lowerBound, endIndex: range.upperBound)
    }
}

/// Files that were asked for lately, by their address with a version: what it shows never changes.
struct ServedFiles {
    private static let countMax = 512

    private var files: [String: ServedFile] = [:]
    /// Addresses in the order they came; the oldest goes first.
    private var order: [String] = []
    private var next = 0

    /// nil also where the file has been removed meanwhile.
    mutating func file(at address: String) -> ServedFile? {
        guard let file = files[address] else { return nil }
        guard !file.object.isRemoved else {
            files[address] = nil
            return nil
        }
        return file
    }

    mutating func keep(_ file: ServedFile, at address: String) {
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
