import ArgumentParser

/// `bookplate-admin backfill`: adds missing data.
struct Backfill: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Add missing covers, thumbnails, book data, biographies, and recommendations.",
        subcommands: [Authors.self, Covers.self, Editions.self, Similar.self, Thumbnails.self])
}
