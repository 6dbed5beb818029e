import Basics
import Glibc
import Identity
import ObjectStorage
import Postgres
import Requests
import Synchronization
import Zip

/// The HTTP endpoint that serves archives of libraries. Belongs to one event loop.
package final class ExportEndpoint {
    /// The maximum number of archives that this process creates at the same time.
    private static let concurrencyMax = 2
    private static let runningCount = Atomic(0)

    private let database: ConnectionPool
    private let services: Services

    package init(database: ConnectionPool, services: Services) {
        self.database = database
        self.services = services
    }

    /// Creates the archive that a link leads to.
    ///
    /// The archive is a file without a name, so it is deleted when its descriptor is closed.
    ///
    /// - Parameter token: The token of an `ExportLink`.
    /// - Throws: `.notFound` if the link is invalid or has expired, `.unauthenticated` if its session has ended, and
    ///   `.rateLimited` if too many archives are being created.
    package func open(
        token: some StringProtocol, requestID: String
    ) async throws(BookplateError) -> OpenObject {
        guard
            let link = ExportLink(
                token: token, keys: services.accounts.sessionKeys, now: unixSecondsNow())
        else { throw .notFound(.noSuchLink) }
        defer { Self.runningCount.subtract(1, ordering: .relaxed) }
        guard Self.runningCount.add(1, ordering: .relaxed).newValue <= Self.concurrencyMax else {
            throw .rateLimited(retryAfterSeconds: 10)
        }
        let user = link.viewer.userID
        // A large library is exported as a whole, or it could never be exported.
        let charges = RequestCharges(services.environment, link.viewer, nil, stopsAtDebt: false)
        try charges.charge(1)
        let archive: ExportArchive
        do throws(ZipError) {
            archive = try ExportArchive(of: user, part: link.part)
        } catch {
            throw internalError(error, requestID)
        }
        while let step = await archive.next() {
            // A context checks the session once. An account that is deleted meanwhile must not seem to be empty.
            let request = RequestContext(
                viewer: link.viewer, database: database, services: services,
                requestID: requestID, charges: charges)
            let input = try await input(for: step, of: user, in: request)
            do throws(ZipError) {
                try await archive.append(input)
            } catch {
                throw internalError(error, requestID)
            }
        }
        guard let object = archive.object else { throw .internalError }
        return object
    }

    private func input(
        for step: LibraryExport.Step, of user: UUID, in request: RequestContext
    ) async throws(BookplateError) -> ExportArchive.Input {
        switch step {
        case .rows(let statement, let parameters):
            let (results, page) = try await request.read { pipeline, _ in
                pipeline.appendForRows(statement, parameters)
            }
            return .rows(results[page])
        case .cover(let book, let version):
            do throws(ObjectError) {
                let bytes = try await LibraryExport.coverBytes(
                    of: book, version: version, user: user, in: request.services.covers.store)
                return .cover(bytes)
            } catch {
                throw services.covers.bookplateError(
                    error, "cannot write an export", requestID: request.requestID)
            }
        }
    }

    private func internalError(
        _ error: some Sendable, _ requestID: String
    ) -> BookplateError {
        services.logger.error(
            "cannot write an export",
            metadata: ["request_id": "\(requestID)", "error": "\(error)"])
        return .internalError
    }
}

/// An export to a file without a name. It compresses on the global executor's threads, so that it does not block an event
/// loop.
private actor ExportArchive {
    /// The data that a step has requested.
    enum Input: Sendable {
        case rows(Rows)
        case cover([UInt8]?)
    }

    private nonisolated let file: UnnamedFile
    private let export: LibraryExport

    init(of userID: UUID, part: ExportPart?) throws(ZipError) {
        do throws(UnnamedFile.Failure) {
            file = try UnnamedFile()
        } catch {
            throw .failed("\(error)")
        }
        export = try LibraryExport(
            of: userID, part: part, to: file.descriptor, time: unixSecondsNow())
    }

    func next() -> LibraryExport.Step? { export.next() }

    nonisolated func append(_ input: Input) async throws(ZipError) {
        try await withTaskExecutorPreference(globalConcurrentExecutor) {
            () async throws(ZipError) in
            try await self.write(input)
        }
    }

    private func write(_ input: Input) throws(ZipError) {
        switch input {
        case .rows(let rows): try export.append(rows: rows)
        case .cover(let bytes): try export.append(cover: bytes)
        }
    }

    /// The file, open for reading.
    nonisolated var object: OpenObject? { OpenObject(descriptor: dup(file.descriptor)) }
}
