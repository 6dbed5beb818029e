import Glibc
import Synchronization

/// Why there is no picture.
package enum ImageError: Error, Equatable, Sendable {
    /// The bytes are at fault; a sentence for who sent them.
    case unsupported(String)
    /// More images wait than may.
    case overloaded
    /// The imager cannot be started; a sentence for the operator.
    case unavailable(String)
    case cancelled
}

/// Some `bookplate-imager` processes, each with a thread that waits for it.
///
/// A crash or a time-out costs the one request; the process is started again, later and later while that
/// fails. One that has had nothing to do for a while ends, and is started again when there is: that takes 60 ms with its
/// proof of what it refuses, and an idle server is 45 MB smaller for each. The pool ends with its last user.
package final class ImagerPool: Sendable {
    private typealias Answer = Result<ImageAnswer, ImageError>

    private struct Job: Sendable {
        let id: UInt64
        let request: ImageRequest
        let continuation: CheckedContinuation<Answer, Never>
    }

    /// Requests that wait for a process; beyond them the pool is overloaded.
    private static let waitingMax = 256
    /// Of one process, so that what a library leaks does not grow for ever.
    private static let requestsPerProcessMax = 500

    private let queue = JobQueue<Job>(waitingMax: waitingMax)
    private let lastID = Atomic<UInt64>(0)
    private let running = RunningCount()

    /// The program beside the one that runs.
    package static var usualProgram: String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let bytes = buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
        let path = String(decoding: bytes, as: UTF8.self)
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        return folder.joined(separator: "/") + "/bookplate-imager"
    }

    /// - Parameter patience: after so long without work a process ends.
    /// - Throws: `.unavailable` where a process does not start or does not prove what it refuses.
    package init(
        program: String = ImagerPool.usualProgram, processCount: Int = 2,
        patience: Duration = .seconds(60)
    ) throws(ImageError) {
        let first: ImagerProcess
        do throws(ImagerProcess.Failure) {
            first = try ImagerProcess(program: program)
        } catch {
            throw .unavailable(Self.sentence(error, program))
        }
        for index in 0..<processCount {
            let worker = Worker(
                queue: queue, program: program, patience: patience, running: running,
                process: index == 0 ? first : nil)
            startThread { worker.run() }
        }
    }

    deinit { queue.close() }

    /// Processes that are there now.
    package var runningCount: Int { running.value.load(ordering: .relaxed) }

    /// The variants of a cover.
    package func cover(from bytes: [UInt8]) async throws(ImageError) -> CoverImages {
        guard bytes.count <= ImageLimits.inputBytesMax else {
            throw .unsupported("The image is larger than 25 MB.")
        }
        return try await images(.cover(bytes))
    }

    package func titleCard(_ card: TitleCard) async throws(ImageError) -> CoverImages {
        try await images(.titleCard(card))
    }

    private func images(_ request: ImageRequest) async throws(ImageError) -> CoverImages {
        let id = lastID.add(1, ordering: .relaxed).newValue
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Answer, Never>) in
                let job = Job(id: id, request: request, continuation: continuation)
                if Task.isCancelled {
                    continuation.resume(returning: .failure(.cancelled))
                } else if !queue.append(job) {
                    continuation.resume(returning: .failure(.overloaded))
                }
            }
        } onCancel: {
            queue.remove { $0.id == id }?.continuation.resume(returning: .failure(.cancelled))
        }
        switch try answer.get() {
        case .images(let images): return images
        case .unsupported(let sentence): throw .unsupported(sentence)
        case .ready: throw .unavailable("bookplate-imager answered out of turn")
        }
    }

    private static func sentence(_ failure: ImagerProcess.Failure, _ program: String) -> String {
        switch failure {
        case .cannotStart(let code):
            "\(program) cannot be started: \(String(cString: strerror(code)))"
        case .notReady:
            "\(program) did not prove that it refuses what it must; its reason is in the log"
        }
    }

    // MARK: - Threads

    private final class RunningCount: Sendable {
        let value = Atomic<Int>(0)
    }

    /// Belongs to its thread.
    private final class Worker: @unchecked Sendable {
        private let queue: JobQueue<Job>
        private let program: String
        private let patience: Duration
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
            queue: JobQueue<Job>, program: String, patience: Duration, running: RunningCount,
            process: ImagerProcess?
        ) {
            self.queue = queue
            self.program = program
            self.patience = patience
            self.running = running
            self.process = process
            if process != nil { running.value.add(1, ordering: .relaxed) }
        }

        func run() {
            while true {
                switch queue.next(within: process == nil ? nil : patience) {
                case .job(let job):
                    job.continuation.resume(returning: answer(job.request))
                    if requestCount >= requestsPerProcessMax { stop() }
                case .idle: stop()
                case .closed: return stop()
                }
            }
        }

        private func answer(_ request: ImageRequest) -> Answer {
            do throws(ImagerProcess.Failure) {
                let process = try started()
                requestCount += 1
                do throws(FrameChannel.Failure) {
                    return .success(try process.ask(request.encoded()))
                } catch {
                    stop()
                    return .failure(
                        .unsupported(
                            error == .timedOut
                                ? "The image takes too long to read. Send it as a plain JPEG."
                                : "The image cannot be read. Send it as a plain JPEG."))
                }
            } catch {
                return .failure(.unavailable(ImagerPool.sentence(error, program)))
            }
        }

        private func started() throws(ImagerProcess.Failure) -> ImagerProcess {
            if let process {
                if process.isRunning { return process }
                stop()
            }
            // 0, 50, 100 ... 3200 ms after as many failures.
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
