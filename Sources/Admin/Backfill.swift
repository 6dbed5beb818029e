import ArgumentParser

/// `bookplate-admin backfill`: brings derived data up to date.
struct Backfill: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Brings derived data up to date.",
        subcommands: [Covers.self, Editions.self, Similar.self, Thumbnails.self])
}
