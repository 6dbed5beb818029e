import Basics
import Glibc
import Synchronization

/// An error of processing an image.
package enum ImageError: Error, Equatable, Sendable {
    /// The image cannot be processed; carries a message for the user who sent it.
    case unsupported(String)
    /// Too many images are waiting.
    case overloaded
    /// The imager cannot be started; carries a message for the operator.
    case unavailable(String)
    /// The temporary file that contains the image cannot be read; carries a message for the operator.
    case unreadableFile(String)
    case cancelled
}

extension ImageError: CustomStringConvertible {
    /// A message for logs and operators.
    package var description: String {
        switch self {
        case .unsupported(let message), .unavailable(let message), .unreadableFile(let message):
            message
        case .overloaded: "too many images are waiting"
        case .cancelled: "cancelled"
        }
    }
}

/// A pool of `bookplate-imager` processes, each driven by a thread of its own.
///
/// A crash or a timeout concerns only the current request. After a crash, which may have another cause than the image,
/// the request is sent to a second process. The process is then restarted, with a growing delay while starting fails. A process without work for `idleTimeout` is stopped, which frees 45 MB, and started
/// again for the next request, which takes 60 ms including its self-test. The threads end when the pool is
/// deinitialized.
package final class ImagerPool: Sendable {
    private typealias Response = Result<ImageResponse, ImageError>

    private struct Job: Sendable {
        let id: UInt64
        let request: ImageRequest
        let continuation: CheckedContinuation<Response, Never>
    }

    /// The maximum number of requests that wait for a process; more are rejected with `.overloaded`.
    private static let waitingMax = 256
    /// A process is replaced after this many requests, which bounds memory leaks in image libraries.
    private static let requestsPerProcessMax = 500

    private let queue = BlockingQueue<Job>(waitingMax: waitingMax)
    private let lastID = Atomic<UInt64>(0)
    private let running = RunningCount()

    /// The path of `bookplate-imager` in the folder of the running program.
    package static var defaultProgram: String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let bytes = buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
        let path = String(decoding: bytes, as: UTF8.self)
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        return folder.joined(separator: "/") + "/bookplate-imager"
    }

    /// Starts the threads and the first process. The other processes are started when they are needed.
    ///
    /// - Parameter idleTimeout: How long a process may be without work before it is stopped.
    /// - Throws: `.unavailable` if the process does not start or fails its self-test.
    package init(
        program: String = ImagerPool.defaultProgram, processCount: Int = 2,
        idleTimeout: Duration = .seconds(60)
    ) throws(ImageError) {
        let first: ImagerProcess
        do throws(ImagerProcess.Failure) {
            first = try ImagerProcess(program: program)
        } catch {
            throw .unavailable(Self.message(error, program))
        }
        for index in 0..<processCount {
            let worker = Worker(
                queue: queue, program: program, idleTimeout: idleTimeout, running: running,
                process: index == 0 ? first : nil)
            startThread { worker.run() }
        }
    }

    deinit { queue.close() }

    /// The number of running processes.
    package var runningCount: Int { running.value.load(ordering: .relaxed) }

    /// Creates the variants of a cover.
    package func cover(from bytes: [UInt8]) async throws(ImageError) -> CoverImages {
        try await cover(from: .memory(bytes))
    }

    /// Creates the variants of a cover. Reads a file in parts, so that it takes little memory.
    package func cover(from bytes: StoredBytes) async throws(ImageError) -> CoverImages {
        guard bytes.count <= ImageLimits.inputBytesMax else {
            throw .unsupported("The image is larger than 25 MiB. Send a smaller one.")
        }
        return try await images(.cover(bytes))
    }

    /// Draws a cover with the given texts and returns its variants.
    package func titleCard(_ card: TitleCard) async throws(ImageError) -> CoverImages {
        try await images(.titleCard(card))
    }

    /// Returns the scripts for which no font is installed, so that title cards would show boxes.
    package func missingScripts() async throws(ImageError) -> [TitleCardScript] {
        guard case .missingScripts(let scripts) = try await response(to: .missingScripts) else {
            throw .unavailable(Self.unexpectedResponse)
        }
        return scripts
    }

    private static let unexpectedResponse = "bookplate-imager sent an unexpected response"

    private func images(_ request: ImageRequest) async throws(ImageError) -> CoverImages {
        switch try await response(to: request) {
        case .images(let images): return images
        case .unsupported(let message): throw .unsupported(message)
        case .ready, .missingScripts: throw .unavailable(Self.unexpectedResponse)
        }
    }

    private func response(to request: ImageRequest) async throws(ImageError) -> ImageResponse {
        let id = lastID.add(1, ordering: .relaxed).newValue
        let response = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Response, Never>) in
                let job = Job(id: id, request: request, continuation: continuation)
                if Task.isCancelled {
                    continuation.resume(returning: .failure(.cancelled))
                } else if !queue.append(job) {
                    continuation.resume(returning: .failure(.overloaded))
                }
            }
        } onCancel: {
            queue.remove(where: { $0.id == id })?.continuation.resume(
                returning: .failure(.cancelled))
        }
        return try response.get()
    }

    private static func message(_ failure: ImagerProcess.Failure, _ program: String) -> String {
        switch failure {
        case .cannotStart(let code):
            "\(program) cannot be started: \(String(cString: strerror(code)))"
        case .notReady:
            "\(program) failed its self-test; the log contains the reason"
        }
    }

    // MARK: - Threads

    private final class RunningCount: Sendable {
        let value = Atomic<Int>(0)
    }

    /// Sends the requests of the queue to one process. Confined to its thread.
    private final class Worker: @unchecked Sendable {
        private let queue: BlockingQueue<Job>
        private let program: String
        private let idleTimeout: Duration
        private let running: RunningCount
        private var process: ImagerProcess? {
            didSet {
                let change = (process == nil ? 0 : 1) - (oldValue == nil ? 0 : 1)
                running.value.add(change, ordering: .relaxed)
            }
        }
        private var requestCount = 0
        private var failedStarts = 0

        init(
            queue: BlockingQueue<Job>, program: String, idleTimeout: Duration,
            running: RunningCount,
            process: ImagerProcess?
        ) {
            self.queue = queue
            self.program = program
            self.idleTimeout = idleTimeout
            self.running = running
            self.process = process
            if process != nil { running.value.add(1, ordering: .relaxed) }
        }

        func run() {
            while true {
                switch queue.next(within: process == nil ? nil : idleTimeout) {
                case .job(let job):
                    job.continuation.resume(returning: respond(to: job.request))
                    if requestCount >= requestsPerProcessMax { stop() }
                case .idle: stop()
                case .closed: return stop()
                }
            }
        }

        private func respond(to request: ImageRequest) -> Response {
            do throws(ImagerProcess.Failure) {
                if let response = response(of: try runningProcess(), to: request) {
                    return response
                }
                // The process has ended. Only an image that ends two processes is the cause.
                return response(of: try runningProcess(), to: request)
                    ?? .failure(
                        .unsupported("The image cannot be read. Send it as a plain JPEG."))
            } catch {
                return .failure(.unavailable(ImagerPool.message(error, program)))
            }
        }

        /// Returns nil if the process has crashed. Stops it after any failure.
        private func response(
            of process: ImagerProcess, to request: ImageRequest
        ) -> Response? {
            requestCount += 1
            do throws(FrameChannel.Failure) {
                return .success(try process.send(request))
            } catch {
                stop()
                switch error {
                case .closed, .malformed: return nil
                case .timedOut:
                    return .failure(
                        .unsupported(
                            "Processing the image takes too long. Send it as a plain JPEG."))
                case .unreadableFile: return .failure(.unreadableFile(error.description))
                }
            }
        }

        /// Returns the running process, or starts one.
        private func runningProcess() throws(ImagerProcess.Failure) -> ImagerProcess {
            if let process {
                if process.isRunning { return process }
                stop()
            }
            // The delay after n consecutive failures: 50, 100, 200 ... up to 3200 ms.
            if failedStarts > 0 { usleep(25_000 << UInt32(min(failedStarts, 7))) }
            failedStarts += 1
            let process = try ImagerProcess(program: program)
            failedStarts = 0
            self.process = process
            return process
        }

        private func stop() {
            process?.stop()
            process = nil
            requestCount = 0
        }
    }
}
