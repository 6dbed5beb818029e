import GraphQL

/// A part of the server that a personal access token opens: the enum `AccessScope`.
package enum AccessScope: String, CaseIterable, Sendable {
    case libraryRead = "LIBRARY_READ"
    case libraryWrite = "LIBRARY_WRITE"
    case progress = "PROGRESS"
    case feed = "FEED"
    case account = "ACCOUNT"

    /// The scope as a set.
    var set: ScopeSet {
        switch self {
        case .libraryRead: ScopeSet(rawValue: 1 << 0)
        case .libraryWrite: ScopeSet(rawValue: 1 << 1)
        case .progress: ScopeSet(rawValue: 1 << 2)
        case .feed: ScopeSet(rawValue: 1 << 3)
        case .account: ScopeSet(rawValue: 1 << 4)
        }
    }

    /// The scope with those that it includes.
    private var granted: ScopeSet {
        self == .libraryWrite ? [set, AccessScope.libraryRead.set] : set
    }

    /// Returns what a token with these scopes may use.
    static func granted(by scopes: [AccessScope]) -> ScopeSet {
        scopes.reduce(into: []) { $0.formUnion($1.granted) }
    }

    /// Returns the names of the scopes in a set, in the order of the enum.
    static func names(in set: ScopeSet) -> [String] {
        allCases.filter { set.contains($0.set) }.map(\.rawValue)
    }
}

extension ScopeSet {
    /// A field with the directive `@sessionOnly`. No token has it.
    static let sessionOnly = ScopeSet(rawValue: 1 << 63)
}
