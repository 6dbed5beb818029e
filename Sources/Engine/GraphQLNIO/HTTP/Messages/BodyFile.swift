import Basics
import NIOCore
import NIOPosix

/// The body of a request that is written to a temporary file while it arrives, so that a large one takes little memory.
///
/// Used on the event loop of its connection. Threads write the file, one write at a time. The bytes that arrive during a write are
/// in `pending` until the next one. While `isBehind`, the connection must not read.
final class BodyFile {
    private static let pendingBytesMax = 256 << 10

    private let loop: any EventLoop
    private let onProgress: () -> Void
    private var file: UnnamedFile?
    private var pending = ByteBuffer()
    /// The number of bytes that are written or being written.
    private var writtenCount = 0
    private(set) var isWriting = false
    /// Why the file cannot be written.
    private(set) var failure: UnnamedFile.Failure?

    /// - Parameter onProgress: Called on the loop after each write.
    init(on loop: any EventLoop, onProgress: @escaping () -> Void) {
        self.loop = loop
        self.onProgress = onProgress
    }

    /// The size of the part of the body that has arrived.
    var byteCount: Int { writtenCount + pending.readableBytes }
    var isBehind: Bool { pending.readableBytes > Self.pendingBytesMax }

    /// The whole body. Valid after its end when nothing is being written.
    var contents: StoredBytes {
        file.map { .file($0, 0..<writtenCount) } ?? .memory([])
    }

    func append(_ part: inout ByteBuffer) {
        pending.writeBuffer(&part)
        if !isWriting { write() }
    }

    private func write() {
        guard failure == nil, pending.readableBytes > 0 else { return }
        isWriting = true
        let (bytes, offset, file, loop) = (pending, writtenCount, file, loop)
        writtenCount += pending.readableBytes
        pending = ByteBuffer()
        let bound = NIOLoopBound(self, eventLoop: loop)
        NIOThreadPool.singleton.submit { _ in
            let result = Result { () throws(UnnamedFile.Failure) in
                let file = if let file { file } else { try UnnamedFile() }
                let written = bytes.withUnsafeReadableBytes { bytes in
                    Result { () throws(UnnamedFile.Failure) in
                        try file.write(bytes, at: offset)
                    }
                }
                try written.get()
                return file
            }
            loop.execute { bound.value.finishWrite(result) }
        }
    }

    private func finishWrite(_ result: Result<UnnamedFile, UnnamedFile.Failure>) {
        isWriting = false
        switch result {
        case .success(let file): self.file = file
        case .failure(let failure):
            self.failure = failure
            pending = ByteBuffer()
        }
        write()
        onProgress()
    }
}
