import Requests

/// The step in which the readers of an app may rate books.
package enum RatingStep: Int32, Sendable, CaseIterable {
    case whole = 4
    case half = 2
    case quarter = 1

    package init?(quarterStars: Int32) { self.init(rawValue: quarterStars) }

    package var quarterStars: Int32 { rawValue }

    package var stars: Double { Double(rawValue) / 4 }

    /// The step in stars: `1`, `0.5`, or `0.25`.
    package var text: String { self == .whole ? "1" : "\(stars)" }
}

extension RequestContext {
    /// The step in which the caller may rate books.
    var ratingStep: RatingStep {
        get async throws(BookplateError) {
            let tenant = try caller().tenantID
            let tenants = try await services.accounts.tenants.known(for: self)
            return tenants.first { $0.id == tenant }?.ratingStep ?? .whole
        }
    }
}
