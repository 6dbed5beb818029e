extension Configuration {
    /// How many requests per UTC day all servers together may send to each external source.
    package struct SourceBudgets: Sendable, Equatable {
        package enum Source: String, Sendable, CaseIterable {
            case openLibrary = "open-library"
            case openLibraryCovers = "open-library-covers"
            case googleBooks = "google-books"
            case isbnDB = "isbndb"
            case webSearch = "web-search"
        }

        private static let requestsMax = 1_000_000_000

        /// The maximum number of requests per day. Sources that are absent are unlimited.
        ///
        /// The defaults are the quota of ISBNdb's smallest plan, the free quota of Google Books, and a limit on the cost of web
        /// searches.
        package private(set) var requestsPerDay: [Source: Int] = [
            .isbnDB: 500, .googleBooks: 1000, .webSearch: 1000,
        ]

        /// Parses a comma-separated list of `source=number` and `source=unlimited`. Other sources keep their defaults.
        static func read(_ text: String) throws(Malformed) -> SourceBudgets {
            var budgets = SourceBudgets()
            var given: Set<Source> = []
            for entry in try Read.list(text) {
                let pair = entry.split(separator: "=", omittingEmptySubsequences: false)
                guard let source = Source(rawValue: String(pair[0])) else {
                    let names = Source.allCases.map(\.rawValue).joined(separator: ", ")
                    throw Malformed("has '\(pair[0])', which is not one of \(names)")
                }
                guard given.insert(source).inserted else {
                    throw Malformed("has '\(source.rawValue)' twice")
                }
                guard pair.count == 2, let budget = budget(String(pair[1])) else {
                    throw Malformed(
                        "has '\(entry)': the number of requests per day must be from 1 to \(requestsMax), or unlimited"
                    )
                }
                budgets.requestsPerDay[source] = budget.requestsPerDay
            }
            return budgets
        }

        private struct Budget {
            /// nil means unlimited.
            let requestsPerDay: Int?
        }

        private static func budget(_ text: String) -> Budget? {
            if text == "unlimited" || text == "off" { return Budget(requestsPerDay: nil) }
            guard let number = Int(text), (1...requestsMax).contains(number), text.first != "+"
            else { return nil }
            return Budget(requestsPerDay: number)
        }
    }
}
