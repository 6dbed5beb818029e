import GraphQL

/// A permission of a personal access token, or of an app of another developer: the enum `AccessScope` of the schema.
package enum AccessScope: String, CaseIterable, Sendable {
    case libraryRead = "LIBRARY_READ"
    case libraryWrite = "LIBRARY_WRITE"
    case progress = "PROGRESS"
    case feed = "FEED"
    case account = "ACCOUNT"

    /// The name of the scope in OAuth.
    package var oauthName: String {
        switch self {
        case .libraryRead: "library:read"
        case .libraryWrite: "library:write"
        case .progress: "progress"
        case .feed: "feed"
        case .account: "account"
        }
    }

    /// - Parameter name: The name of a scope in OAuth.
    package init?(oauthName name: some StringProtocol) {
        guard let scope = Self.allCases.first(where: { $0.oauthName == name }) else { return nil }
        self = scope
    }

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

    /// Returns the scopes of a token together with those that they include.
    static func granted(by scopes: [AccessScope]) -> ScopeSet {
        scopes.reduce(into: []) { $0.formUnion($1.granted) }
    }

    /// Returns the names of the scopes in a set, in the order of the enum.
    package static func names(in set: ScopeSet) -> [String] {
        allCases.filter { set.contains($0.set) }.map(\.rawValue)
    }
}

extension ScopeSet {
    /// The scope of a field with the directive `@sessionOnly`. No token has it.
    package static let sessionOnly = ScopeSet(rawValue: 1 << 63)
}
