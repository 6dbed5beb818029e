import Bookplate
import GraphQL

/// Catalogues of made-up books: lines as a catalogue file has them.
package enum TestCatalog {
    /// So many books, the genres in turn, each less popular than the one before. All have an ISBN.
    package static func lines(
        _ count: Int = 24, genres: [String] = ["Fantasy", "Crime", "Romance", "History"]
    ) -> [String] {
        (1...count).map { number in
            let genre = genres[number % genres.count]
            return line(number, genres: [genre])
        }
    }

    /// A book whose popularity falls with its number.
    package static func line(_ number: Int, genres: [String]) -> String {
        let genres = genres.map { "\"\($0)\"" }.joined(separator: ",")
        return """
            {"ids":{"test":"\(number)"},"title":"Card \(number)","authors":["Author \(number % 7)","Second"],\
            "isbn13":"\(isbn(number))","genres":[\(genres)],"pageCount":\(100 + number),\
            "publishedDate":"1999-01","publisher":"House","averageRating":4.25,\
            "description":"The story of number \(number). It goes on for a while.",\
            "ratingsCount":\(1_000_000 - number)}
            """
    }

    /// A valid ISBN-13 for each number.
    package static func isbn(_ number: Int) -> String {
        var text = "978"
        let digits = String(100_000_000 + number)
        text += digits
        let sum = text.utf8.enumerated().reduce(0) { sum, digit in
            sum + (Int(digit.element) - 48) * (digit.offset.isMultiple(of: 2) ? 1 : 3)
        }
        return text + String((10 - sum % 10) % 10)
    }
}

extension TestDatabase {
    /// Imports the lines as the admin CLI does, as the owner.
    @discardableResult
    package func importCatalog(
        _ lines: [String], isDryRun: Bool = false
    ) async throws -> (summary: CatalogImport.Summary, problems: [Int: String]) {
        try await connected { connection in
            var problems: [Int: String] = [:]
            let summary = try CatalogImport(connection).run(
                lines.map { Array($0.utf8)[...] }, isDryRun: isDryRun
            ) { problems[$0] = $1 }
            return (summary, problems)
        }
    }
}

/// A generator whose numbers follow from its seed: what a property test found can be found again.
package struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    package init(_ seed: UInt64) { state = seed }

    /// SplitMix64: https://prng.di.unimi.it/splitmix64.c
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
