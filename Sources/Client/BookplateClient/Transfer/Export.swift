import Foundation

extension Library {
    static let exportDocument = "mutation { exportLibrary { url } }"

    /// Stores the whole library as a zip archive: JSON, CSV in the format of Goodreads, and the covers. `Imports.start` accepts the
    /// archive if it has at most 25 MiB.
    ///
    /// - Parameters:
    ///   - file: the file, which is replaced when the archive is complete.
    ///   - report: gets the number of bytes that have arrived.
    /// - Throws: `BookplateError.unreachable` if the connection failed several times. The old file is still there then.
    public func export(
        to file: URL, _ report: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws {
        try await environment.repeatedly { try await self.download(to: file, report) }
    }

    private func download(to file: URL, _ report: @Sendable (Int) -> Void) async throws {
        struct Export: Decodable { let url: URL }
        struct Response: Decodable { let exportLibrary: Export }
        // Each attempt has a new address: an address is valid for ten minutes.
        let response: Response = try await query(Self.exportDocument)
        let partial = file.appendingPathExtension("part")
        guard FileManager.default.createFile(atPath: partial.path, contents: nil) else {
            throw CocoaError(.fileWriteUnknown)
        }
        defer { try? FileManager.default.removeItem(at: partial) }
        let handle = try FileHandle(forWritingTo: partial)
        defer { try? handle.close() }
        var (count, end) = (0, Data())
        let parts = environment.transport.stream(
            HTTPRequest(
                method: "GET", url: response.exportLibrary.url, headers: [:], body: nil))
        do {
            for try await part in parts {
                try handle.write(contentsOf: part)
                count += part.count
                end = Data((end + part).suffix(Self.archiveEnd.count + 18))
                report(count)
            }
        } catch let error as BookplateError {
            throw error
        } catch let error as URLError {
            throw BookplateError.unreachable(error.localizedDescription)
        }
        try Task.checkCancellation()
        // A proxy may end a response early without an error.
        guard end.starts(with: Self.archiveEnd) else {
            throw BookplateError.unreachable("the archive is not complete")
        }
        try handle.synchronize()
        guard rename(partial.path, file.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    /// The signature of the last record of a zip archive without a comment, which has 18 bytes more.
    private static let archiveEnd = Data([0x50, 0x4B, 0x05, 0x06])
}
