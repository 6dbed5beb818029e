extension Configuration {
    /// The external services that the server uses. A service whose URL is nil is switched off.
    package struct Sources: Sendable, Equatable {
        package var openLibraryURL: String?
        package var openLibraryCoversURL: String?
        package var googleBooksURL: String?
        package var googleBooksKey: String?
        /// Used only if `isbnDBKey` is set.
        package var isbnDBURL: String?
        package var isbnDBKey: String?
        /// The e-mail or web address of the operator. The sources require it in the user agent.
        package var contact: String?
        package var openAIURL: String?
        package var openAIKey: String?
        /// The model that performs web searches.
        package var openAIModel: String
        package var budgets: SourceBudgets
        /// Hosts and CIDR blocks that may be fetched from although they are private.
        package var fetchAllow: [String]
        /// The MQTT broker for cover events.
        package var broker: Broker?

        init(_ input: inout Variables) throws(ConfigError) {
            let url = Read.url("https", "http")
            openLibraryURL = try input.switchable(
                "BOOKPLATE_OPEN_LIBRARY_URL", default: "https://openlibrary.org", read: url)
            openLibraryCoversURL = try input.switchable(
                "BOOKPLATE_OPEN_LIBRARY_COVERS_URL", default: "https://covers.openlibrary.org",
                read: url)
            googleBooksURL = try input.switchable(
                "BOOKPLATE_GOOGLE_BOOKS_URL", default: "https://www.googleapis.com/books/v1",
                read: url)
            googleBooksKey = try input.optional("BOOKPLATE_GOOGLE_BOOKS_KEY", read: Read.text)
            isbnDBURL = try input.switchable(
                "BOOKPLATE_ISBNDB_URL", default: "https://api2.isbndb.com", read: url)
            isbnDBKey = try input.optional("BOOKPLATE_ISBNDB_KEY", read: Read.text)
            contact = try input.optional("BOOKPLATE_CONTACT", read: Read.contact)
            openAIURL = try input.switchable(
                "BOOKPLATE_OPENAI_URL", default: "https://api.openai.com/v1", read: url)
            openAIKey = try input.optional("BOOKPLATE_OPENAI_KEY", read: Read.text)
            openAIModel =
                try input.optional("BOOKPLATE_OPENAI_MODEL", read: Read.text) ?? "gpt-4.1-mini"
            budgets =
                try input.optional("BOOKPLATE_SOURCE_BUDGETS", read: SourceBudgets.read)
                ?? SourceBudgets()
            fetchAllow = try input.optional("BOOKPLATE_FETCH_ALLOW", read: Read.list) ?? []
            broker = try input.optional("BOOKPLATE_MQTT_URL", read: Broker.read)
        }
    }
}
