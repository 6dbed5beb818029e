import ArgumentParser
import Bookplate

/// The options for settings of a tenant.
struct TenantSettings: ParsableArguments {
    @Option(help: "A bundle ID or service ID in the audience of identity tokens. Repeatable.")
    var audience: [String] = []
    @Option(
        help: "An issuer of identity tokens that replaces the configured issuers. Repeatable.")
    var issuer: [String] = []
    @Option(
        help:
            "An OpenID provider with the audiences of the tenant, as ISSUER=URL, where URL is the address of its keys. Repeatable. For a provider with client IDs of its own, use `tenant provider add`."
    )
    var provider: [String] = []
    @Option(help: "The Amazon affiliate tag in purchase links.")
    var amazonTag: String?
    @Option(help: "The Bookshop.org affiliate ID in purchase links.")
    var bookshopId: String?
    @Option(help: "Maximum number of requests per minute of all users together.")
    var rate: Int32?
    @Option(
        help:
            "Maximum size of all covers of the tenant, such as 500GB. Default for a new tenant: unlimited."
    )
    var storage: ByteCount?
    @Option(
        help:
            "Maximum size of the covers of each user, such as 1GB. Default for a new tenant: 2GiB.")
    var userStorage: ByteCount?
    @Option(
        help:
            "The step in which readers may rate books, in stars: 1, 0.5, or 0.25. Default for a new tenant: 1."
    )
    var ratingStep: RatingStep?
    @Option(
        help:
            "Whether apps may sign in guests, who have no identity: on or off. Default for a new tenant: off."
    )
    var guests: Switch?
    @Option(
        help:
            "Maximum number of books of each guest, from 1 to 1,000. Default for a new tenant: 200."
    )
    var guestBooks: Int32?
    @Option(
        help:
            "Whether assistants may call the trusted documents as tools of the Model Context Protocol: on or off. Default for a new tenant: off."
    )
    var mcp: Switch?
    @Option(
        help:
            "Whether apps of other developers can ask for access by OAuth: on or off. Default for a new tenant: off."
    )
    var oauth: Switch?
    @Option(
        help:
            "Whether such apps can register themselves: on or off. Default for a new tenant: off."
    )
    var oauthRegistration: Switch?
    @Option(
        help:
            "Whether readers may share by links: on or off. Off ends all links until it is on again. Default for a new tenant: on."
    )
    var sharing: Switch?

    /// - Throws: `.usage` for a value without `=`.
    var providers: [IdentityProvider] {
        get throws(Failure) {
            var providers: [IdentityProvider] = []
            for text in provider {
                let parts = text.split(separator: "=", maxSplits: 1)
                guard parts.count == 2 else {
                    throw Failure("--provider must be ISSUER=URL, not '\(text)'", .usage)
                }
                providers.append(.init(issuer: String(parts[0]), jwksURL: String(parts[1])))
            }
            return providers
        }
    }
}

extension RatingStep: ExpressibleByArgument {
    package init?(argument: String) {
        guard let step = Self.allCases.first(where: { $0.text == argument }) else { return nil }
        self = step
    }

    package static var allValueStrings: [String] { allCases.map(\.text) }
}

/// A setting on the command line that is on or off.
enum Switch: String, ExpressibleByArgument, CaseIterable {
    case on, off

    var isOn: Bool { self == .on }
}

/// A number of bytes on the command line: `2147483648`, `500MB` (powers of 1,000), or `2GiB` (powers of 1,024).
struct ByteCount: ExpressibleByArgument {
    let bytes: Int64

    /// The largest first.
    private static let units: [(name: String, bytes: Int64)] = [
        ("TiB", 1 << 40), ("TB", 1_000_000_000_000), ("GiB", 1 << 30), ("GB", 1_000_000_000),
        ("MiB", 1 << 20), ("MB", 1_000_000), ("KiB", 1 << 10), ("KB", 1_000), ("B", 1), ("", 1),
    ]

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        let name = argument.dropFirst(digits.count).uppercased()
        guard let number = Int64(digits),
            let unit = Self.units.first(where: { $0.name.uppercased() == name })
        else { return nil }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: unit.bytes)
        guard !overflow else { return nil }
        self.bytes = bytes
    }

    /// Returns a number of bytes for people: exactly, such as `2 GiB` or `500 GB`, or else rounded, such as `1.4 MiB`.
    static func text(_ bytes: some BinaryInteger) -> String {
        let bytes = Int64(bytes)
        let fitting = units.filter { $0.bytes > 1 && $0.bytes <= bytes }
        if let unit = fitting.first(where: { bytes % $0.bytes == 0 }) {
            return "\(bytes / unit.bytes) \(unit.name)"
        }
        guard let unit = fitting.first(where: { $0.name.contains("i") }) else {
            return "\(bytes) bytes"
        }
        let tenths = Int((Double(bytes) / Double(unit.bytes) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(unit.name)"
    }
}
