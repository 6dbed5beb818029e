import NIOCore

/// An open file, a part of which a response can send with `sendfile`. Used on one event loop only.
///
/// `sendfile` needs a channel without TLS.
package final class OpenFile {
    private let handle: NIOFileHandle
    private let owner: AnyObject

    /// - Parameter owner: Closes the descriptor when it is released.
    package init(descriptor: CInt, owner: AnyObject) {
        handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: descriptor)
        self.owner = owner
    }

    deinit { _ = try? handle.takeDescriptorOwnership() }

    func region(_ range: Range<Int>) -> FileRegion {
        FileRegion(fileHandle: handle, readerIndex: range.lowerBound, endIndex: range.upperBound)
    }
}
