import Foundation

extension Library {
    /// The imports of files of other apps.
    public var imports: Imports { Imports(library: self) }
}

/// The format of a library file. A newer server may have more values.
public struct ImportFormat: OpenEnum {
    /// The name in the schema.
    public let rawValue: String
    /// Creates a value from its name in the schema.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The server detects the format.
    public static let auto = Self(rawValue: "AUTO")
    /// The CSV file that Goodreads exports.
    public static let goodreads = Self(rawValue: "GOODREADS")
    /// The CSV file that The StoryGraph exports.
    public static let storyGraph = Self(rawValue: "STORYGRAPH")
    /// An archive of Bookplate.
    public static let bookplate = Self(rawValue: "BOOKPLATE")
}

/// How far an import is.
public struct ImportProgress: Decodable, Hashable, Sendable {
    static let selection =
        "id state total done created updated failed { line field message } ignoredColumns"

    /// A problem of a record.
    public struct Failure: Decodable, Hashable, Sendable {
        /// The line on which the record begins, from 1. Zero if the whole file failed.
        public let line: Int
        /// The column that was left out. Nil if the whole record was.
        public let field: String?
        /// A description that can be shown to the reader.
        public let message: String
    }

    /// The id of the import.
    public let id: String
    /// `QUEUED`, `RUNNING`, `DONE`, or `FAILED`.
    public let state: String
    /// The number of records. Nil until they have been counted.
    public let total: Int?
    /// The number of records that have been processed, including failed ones.
    public let done: Int
    /// The number of new books.
    public let created: Int
    /// The number of books to which the import added something.
    public let updated: Int
    /// The problems of records.
    public let failed: [Failure]
    /// The columns that the server does not keep.
    public let ignoredColumns: [String]

    /// From 0 to 1. Nil until the records have been counted.
    public var fraction: Double? {
        total.map { $0 == 0 ? 1 : Double(done) / Double($0) }
    }

    /// Whether the import has ended.
    public var isEnded: Bool { state == "DONE" || state == "FAILED" }
}

/// Imports run on the server, also while the app does not. The books arrive like those of another device.
public struct Imports: Sendable {
    let library: Library

    static let start = """
        mutation ($input: ImportLibraryInput!) { importLibrary(input: $input) { id } }
        """
    static let progress = """
        subscription ($id: ID!) { importProgress(id: $id) { \(ImportProgress.selection) } }
        """

    /// Sends a file of at most 25 MiB, and returns the id of its import. Store the id if the progress is to be shown after a restart of
    /// the app. A file may be sent again: the import of a file that was imported already adds nothing.
    public func start(_ file: Data, format: ImportFormat = .auto) async throws -> String {
        struct Response: Decodable { let importLibrary: Reference }
        let response: Response = try await library.upload(
            Self.start, ["input": ["file": nil, "format": .string(format.rawValue)]], file: file,
            path: "input.file")
        return response.importLibrary.id
    }

    /// The state of an import now and after each change, until the import has ended. A broken connection is replaced by a new one.
    ///
    /// The sequence throws `ServerError` if there is no such import, and `BookplateError.signInNeeded`.
    public func progress(of id: String) -> AsyncThrowingStream<ImportProgress, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: ImportProgress.self, bufferingPolicy: .bufferingNewest(1))
        let task = Task {
            do {
                try await follow(id) { continuation.yield($0) }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    private func follow(_ id: String, _ report: (ImportProgress) -> Void) async throws {
        struct Event: Decodable, Sendable { let importProgress: ImportProgress }
        var delay = Delay()
        while true {
            do {
                let events = library.subscribe(
                    Self.progress, variables: ["id": .string(id)], as: Event.self)
                for try await event in events {
                    delay = Delay()
                    report(event.importProgress)
                    if event.importProgress.isEnded { return }
                }
                return
            } catch let error as ServerError
                where error.code != .serviceUnavailable && error.code != .rateLimited
            {
                throw error
            } catch BookplateError.signInNeeded {
                throw BookplateError.signInNeeded
            } catch {
                // The connection broke, or the access token has expired.
                try Task.checkCancellation()
            }
            try await delay.wait(library.environment, longest: 30)
        }
    }
}
