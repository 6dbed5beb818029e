extension Configuration {
    /// Where the data is; each address is a connection string of PostgreSQL.
    package struct Database: Sendable, Equatable {
        /// The server's role: no owner of tables, bound by row-level security.
        package var url: String?
        /// The owner's role, for migrations and the admin CLI; `url` where it is not set.
        package var adminURL: String?
        /// A streaming replica for queries.
        package var readURL: String?
        /// For the whole process.
        package var connectionsMax: Int

        init(_ input: inout Variables) throws(ConfigError) {
            url = try input.optional("DATABASE_URL", read: Read.database)
            adminURL =
                try input.optional("BOOKPLATE_ADMIN_DATABASE_URL", read: Read.database) ?? url
            readURL = try input.optional("BOOKPLATE_READ_DATABASE_URL", read: Read.database)
            connectionsMax =
                try input.optional("BOOKPLATE_DATABASE_CONNECTIONS", read: Read.integer(1...1000))
                ?? 8
        }

        /// The server's database.
        ///
        /// - Throws: where none is set.
        package func required() throws(ConfigError) -> String {
            guard let url else {
                throw ConfigError("DATABASE_URL", "is not set: it says where the database is")
            }
            return url
        }

        /// The owner's database.
        ///
        /// - Throws: where neither variable is set.
        package func adminRequired() throws(ConfigError) -> String {
            guard let adminURL else {
                throw ConfigError(
                    "BOOKPLATE_ADMIN_DATABASE_URL", "is not set, and neither is DATABASE_URL")
            }
            return adminURL
        }
    }
}
