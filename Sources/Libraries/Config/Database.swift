import NIOCore

extension Configuration {
    /// The databases. Each address is a PostgreSQL connection string.
    package struct Database: Sendable, Equatable {
        /// Connects as the server's role, which owns no tables and is subject to row-level security.
        package var url: String?
        /// Connects as the server's role, but not through a connection pooler, for LISTEN. Defaults to `url`.
        package var directURL: String?
        /// Connects as the owner's role, for migrations and the admin CLI. Defaults to `directURL`.
        package var adminURL: String?
        /// Connects to a streaming replica, which then serves queries.
        package var readURL: String?
        /// The maximum number of connections for requests and jobs; at least 4.
        package var connectionsMax: Int
        /// Four for each core that the process may use, so that there can be an event loop for each of them. At most 64, because
        /// PostgreSQL accepts 100 by default.
        static let connectionsMaxDefault = min(max(8, 4 * System.coreCount), 64)
        /// The number of connections for jobs: a quarter.
        package var jobConnectionCount: Int { connectionsMax / 4 }
        /// The number of event loops for requests: one for each core, but not more than have three connections each. The queries of one
        /// reader use a third of the connections of a loop, and with fewer than three, they could use all.
        package var loopCount: Int { loopCount(coreCount: System.coreCount) }

        func loopCount(coreCount: Int) -> Int { min(coreCount, requestConnectionCount / 3) }

        /// The number of connections for requests of an event loop.
        package var loopConnectionCount: Int { requestConnectionCount / loopCount }
        private var requestConnectionCount: Int { connectionsMax - jobConnectionCount }
        /// The maximum number of connections of the whole process: three more are for the notifications of changes, the
        /// notifications of jobs, and the leases of jobs.
        package var allConnectionsMax: Int { connectionsMax + 3 }

        init(_ input: inout Variables) throws(ConfigError) {
            url = try input.optional("DATABASE_URL", read: Read.database)
            directURL =
                try input.optional("BOOKPLATE_DATABASE_DIRECT_URL", read: Read.database) ?? url
            adminURL =
                try input.optional("BOOKPLATE_ADMIN_DATABASE_URL", read: Read.database)
                ?? directURL
            readURL = try input.optional("BOOKPLATE_READ_DATABASE_URL", read: Read.database)
            connectionsMax =
                try input.optional("BOOKPLATE_DATABASE_CONNECTIONS", read: Read.integer(4...1000))
                ?? Self.connectionsMaxDefault
        }

        /// The address of the server's database.
        ///
        /// - Throws: if it is not configured.
        package func required() throws(ConfigError) -> String {
            guard let url else {
                throw ConfigError(
                    "DATABASE_URL", "is not set: set it to the database URL with the server's role")
            }
            return url
        }

        /// The address of the database, for the owner's role.
        ///
        /// - Throws: if neither variable is set.
        package func adminRequired() throws(ConfigError) -> String {
            guard let adminURL else {
                throw ConfigError(
                    "BOOKPLATE_ADMIN_DATABASE_URL",
                    "is not set: set it to the database URL with the role that owns the tables")
            }
            return adminURL
        }
    }
}
