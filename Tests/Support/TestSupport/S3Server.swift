import Bookplate
import Config
import ObjectStorage
import Postgres
import S3Storage

/// An S3 server on its own port, with an empty bucket. See scripts/s3/run.
package final class S3Server: Sendable {
    package enum Kind: String, Sendable { case moto, swift, `public` }

    /// Servers that verify signatures. Each test uses a prefix of its own.
    package static let shared = Shared { try await S3Server(.moto) }
    package static let swift = Shared { try await S3Server(.swift) }

    private let server: ScriptServer
    package let port: String
    private let accessKeyID: String
    private let secretAccessKey: String

    package init(_ kind: Kind) async throws {
        server = try await .start("scripts/s3/run", [kind.rawValue])
        let words = server.announcement.split(separator: " ").map { String($0) }
        guard words.count == 3 else {
            throw ScriptServer.Failure(description: "unknown: \(server.announcement)")
        }
        port = words[0]
        accessKeyID = words[1]
        secretAccessKey = words[2]
    }

    /// The URL of the bucket.
    package var url: String { "http://127.0.0.1:\(port)/covers" }

    /// Returns the variables of a server that uses this bucket.
    ///
    /// - Parameter options: More options of the location, such as `&public=…`.
    package func variables(
        prefix: String, options: String = "", secret: String? = nil
    ) -> [String: String] {
        [
            "BOOKPLATE_STORAGE":
                "s3://covers/\(prefix)?region=eu-central-1&endpoint=http://127.0.0.1:\(port)\(options)",
            "AWS_ACCESS_KEY_ID": accessKeyID,
            "AWS_SECRET_ACCESS_KEY": secret ?? secretAccessKey,
        ]
    }

    /// Opens the store with this prefix.
    package func store(
        prefix: String, options: String = "", secret: String? = nil, leases: any WriteLeases
    ) throws -> any ObjectStore {
        try Configuration(variables(prefix: prefix, options: options, secret: secret)).storage
            .open(leases: leases)
    }
}

/// A kind of object store, for tests of the common behavior.
package enum TestStore: String, Sendable, CaseIterable {
    case files, bucket
    /// A bucket of OpenStack Swift, which takes 100 ms to store an object.
    case swift

    package static let fast: [TestStore] = [.files, .bucket]

    /// Makes an empty store whose leases are in a database.
    package func make(_ database: ConnectionPool) async throws -> any ObjectStore {
        switch self {
        case .files: return try FileStore(try TestApp.makeFolder())
        case .bucket, .swift:
            let server = try await self == .bucket ? S3Server.shared() : S3Server.swift()
            let prefix = String(UInt64.random(in: 0...UInt64.max), radix: 16)
            return try server.store(prefix: prefix, leases: DatabaseLeases(database))
        }
    }
}
