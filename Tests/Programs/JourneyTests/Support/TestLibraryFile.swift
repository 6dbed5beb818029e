import TestSupport

/// A library in the format of Goodreads.
enum TestLibraryFile {
    /// Returns a file with books that differ in all fields.
    static func csv(records: Int) -> [UInt8] {
        let header = "Book Id,Title,Author,ISBN13,My Rating,Bookshelves,Exclusive Shelf,My Review\n"
        let lines = (1...records).map {
            "\($0),Title \($0),Author \($0 % 50),\(TestCatalog.isbn(500_000 + $0)),\($0 % 6),"
                + "\"shelf \($0 % 7), shelf \($0 % 11)\",read,Words \($0)\n"
        }
        return Array((header + lines.joined()).utf8)
    }
}
