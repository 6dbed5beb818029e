import Glibc
import Identity
import ObjectStorage
import Postgres
import Synchronization
import Zip

/// Downloads of whole libraries, beside GraphQL. On one event loop.
package final class ExportRequests {
    /// Archives that one process makes at once.
    private static let concurrencyMax = 2
    private static let underWay = Atomic(0)

    private let database: ConnectionPool
    private let services: Services

    package init(database: ConnectionPool, services: Services) {
        self.database = database
        self.services = services
    }

    /// The archive that a link leads to, as a file that is nowhere else and goes when it is closed.
    ///
    /// - Parameter token: of `ExportLink`.
    /// - Throws: `.notFound` for a link that is no good, `.unauthenticated` where its session has ended.
    package func open(
        token: some StringProtocol, requestID: String
    ) async throws(BookplateError) -> OpenObject {
        guard
            let link = ExportLink(
                token: token, keys: services.sessionKeys, now: unixSecondsNow())
        else { throw .notFound("This link is not good any more. Ask for a new one.") }
        defer { Self.underWay.subtract(1, ordering: .relaxed) }
        guard Self.underWay.add(1, ordering: .relaxed).newValue <= Self.concurrencyMax else {
            throw .rateLimited(retryAfterSeconds: 10)
        }
        let request = RequestContext(
            viewer: link.viewer, database: database, services: services, requestID: requestID)
        let archive: ExportArchive
        do throws(ZipError) {
            archive = try ExportArchive(of: link.viewer.userID)
        } catch {
            throw failure(error, requestID)
        }
        while let step = await archive.next() {
            let answer: ExportArchive.Answer
            switch step {
            case .rows(let statement, let parameters):
                let rows = try await request.read { segment, _ in
                    segment.append(statement, parameters)
                }
                answer = .rows(rows[0])
            case .cover(let book, let version):
                answer = .cover(
                    await services.covers.bytes(
                        of: book, version: version, user: link.viewer.userID))
            }
            do throws(ZipError) {
                try await archive.take(answer)
            } catch {
                throw failure(error, requestID)
            }
        }
        guard let object = archive.object else { throw .internalError }
        return object
    }

    private func failure(_ error: ZipError, _ requestID: String) -> BookplateError {
        services.logger.error(
            "an export cannot be written",
            metadata: ["request_id": "\(requestID)", "error": "\(error)"])
        return .internalError
    }
}

/// An export into a file without a name, packed on threads that no event loop runs on.
private actor ExportArchive {
    enum Answer: Sendable {
        case rows(Rows)
        case cover([UInt8]?)
    }

    private nonisolated let file: Int32
    private let export: LibraryExport

    init(of userID: UUID) throws(ZipError) {
        // Gone from its folder at once, so that nothing is left of it whatever happens. mkstemp draws the last six characters.
        var template = Array("/var/tmp/bookplate-export-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        guard file >= 0 else { throw .failed("no place for a temporary file: errno \(errno)") }
        unlink(template)
        // The helper processes that this one starts are not to have it.
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        self.file = file
        do throws(ZipError) {
            export = try LibraryExport(of: userID, to: file, time: unixSecondsNow())
        } catch {
            close(file)
            throw error
        }
    }

    deinit { close(file) }

    func next() -> LibraryExport.Step? { export.next() }

    nonisolated func take(_ answer: Answer) async throws(ZipError) {
        try await withTaskExecutorPreference(globalConcurrentExecutor) {
            () async throws(ZipError) in
            try await self.write(answer)
        }
    }

    private func write(_ answer: Answer) throws(ZipError) {
        switch answer {
        case .rows(let rows): try export.take(rows: rows)
        case .cover(let bytes): try export.take(cover: bytes)
        }
    }

    /// The file, to be read.
    nonisolated var object: OpenObject? { OpenObject(descriptor: dup(file)) }
}

extension Covers {
    /// The bytes of a version's full size; nil where it is gone.
    package func bytes(
        of book: UUID, version: String, user: UUID
    ) async -> [UInt8]? {
        guard let key = ObjectKey(.bookCovers, folder: "\(user)", name: "\(book)"),
            let path = ObjectPath(key, version: version, .full)
        else { return nil }
        return try? await store.open(path)?.bytes()
    }
}
