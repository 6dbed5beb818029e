import GraphQL
import Operations

/// Generates catalog files of invented books.
package enum TestCatalog {
    /// Returns `count` lines of a catalog file. The books take their genre from the list in turn, each is less popular
    /// than the one before it, and all of them have an ISBN.
    package static func lines(
        _ count: Int = 24, genres: [String] = ["Fantasy", "Horror", "Romance", "History"]
    ) -> [String] {
        (1...count).map { number in
            let genre = genres[number % genres.count]
            return line(number, genres: [genre])
        }
    }

    /// Returns the line of one book. Popularity decreases with the number.
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

    /// Returns a valid ISBN-13 that is unique to the number.
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
    /// Imports catalog lines as the owner of the tables, as the admin CLI does.
    ///
    /// - Returns: the summary, and the problems by line number.
    @discardableResult
    package func importCatalog(
        _ lines: [String], isDryRun: Bool = false
    ) async throws -> (summary: CatalogImport.Summary, problems: [Int: String]) {
        try await withConnection { connection in
            var problems: [Int: String] = [:]
            let summary = try CatalogImport(connection).run(
                lines.map { Array($0.utf8)[...] }, isDryRun: isDryRun
            ) { problems[$0] = $1 }
            return (summary, problems)
        }
    }
}
