import ArgumentParser

/// `bookplate-admin backfill`: adds missing data.
struct Backfill: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Add missing covers, thumbnails, book data, and recommendations.",
        subcommands: [Covers.self, Editions.self, Similar.self, Thumbnails.self])
}
