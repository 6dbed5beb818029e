extension Configuration {
    /// A database in addition to the home database at `DATABASE_URL`, for accounts that are moved to it.
    package struct OtherDatabase: Sendable, Equatable {
        /// The maximum number of other databases. A request for an image may query all of them.
        static let countMax = 8

        /// The suffix of its variables in lower case, such as `db2`.
        package var name: String
        /// The URL with the server's role.
        package var url: String
        /// The URL with the server's role for LISTEN. It must not lead through a connection pooler. `url` if it is not configured.
        package var directURL: String
        package var storage: Storage

        /// Reads the databases that `BOOKPLATE_OTHER_DATABASES` names.
        ///
        /// - Parameter home: The storage of the home database, which no other database may use.
        static func readAll(
            _ input: inout Variables, _ credentials: Result<S3Credentials?, ConfigError>,
            besides home: Storage
        ) throws(ConfigError) -> [OtherDatabase] {
            let list = "BOOKPLATE_OTHER_DATABASES"
            var databases: [OtherDatabase] = []
            for name in try input.optional(list, read: Self.names) ?? [] {
                let suffix = name.uppercased()
                let urlVariable = "BOOKPLATE_DATABASE_URL_\(suffix)"
                let storageVariable = "BOOKPLATE_STORAGE_\(suffix)"
                guard let url = try input.optional(urlVariable, read: Read.database) else {
                    throw ConfigError(
                        urlVariable,
                        "is not set: set it to the URL of the database '\(name)' in \(list), with the server's role"
                    )
                }
                let directURL = try input.optional(
                    "BOOKPLATE_DATABASE_DIRECT_URL_\(suffix)", read: Read.database)
                guard let text = try input.optional(storageVariable, read: Read.text) else {
                    throw ConfigError(
                        storageVariable,
                        "is not set: set it to the location of the covers of the database '\(name)' in \(list)"
                    )
                }
                let storage = try Storage(text, credentials, name: storageVariable)
                let locations = [home.location] + databases.map(\.storage.location)
                guard !locations.contains(storage.location) else {
                    throw ConfigError(
                        storageVariable, "is the storage of another database: each needs its own")
                }
                databases.append(
                    OtherDatabase(
                        name: name, url: url, directURL: directURL ?? url, storage: storage))
            }
            return databases
        }

        private static func names(_ text: String) throws(Malformed) -> [String] {
            let names = try Read.list(text)
            guard names.count <= countMax else {
                throw Malformed("may name at most \(countMax) databases")
            }
            let isNamed = names.allSatisfy { name in
                (1...20).contains(name.utf8.count)
                    && name.utf8.allSatisfy {
                        (0x61...0x7A).contains($0) || (0x30...0x39).contains($0)
                    }
            }
            guard isNamed, Set(names).count == names.count else {
                throw Malformed(
                    "must be different names of 1 to 20 lower-case letters and digits, separated by commas, such as db2,db3"
                )
            }
            return names
        }
    }
}
