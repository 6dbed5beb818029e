import GraphQL
import TestSupport
import Testing

@testable import Bookplate

/// Every field with every scope. The requests, and the scopes that they need, are generated from the schema.
@Suite struct ScopeProperties {
    static let schema = GeneratedProbeTests.schema
    private static let scopes: [String] = {
        guard case .enumeration(let values)? = schema.type(named: "AccessScope")?.kind else {
            return []
        }
        return values.map(\.name)
    }()

    /// A document, and what its fields need according to the directives of the schema.
    struct Probe: CustomTestStringConvertible {
        let name: String
        let query: String
        let needed: Set<String>
        let isSessionOnly: Bool

        var testDescription: String { name }
    }

    /// Returns the scopes that a list of directives names, and `session` for `@sessionOnly`.
    private static func needs(_ directives: [Directive]) -> Set<String> {
        var needs: Set<String> = []
        for directive in directives {
            if directive.name.value == "sessionOnly" { needs.insert("session") }
            guard directive.name.value == "scope", let argument = directive.arguments.first,
                case .enumeration(let name) = argument.value.kind
            else { continue }
            needs.insert(name)
        }
        return needs
    }

    /// A field with the smallest arguments and selection.
    private static func probe(
        _ name: String, _ field: FieldDefinition, needs outer: Set<String>,
        _ document: (String) -> String
    ) -> Probe {
        let arguments = field.arguments.filter { $0.type.isNonNull && $0.defaultValue == nil }
            .map { "\($0.name): \(Literals(schema: schema).literal($0.type, named: $0.name))" }
            .joined(separator: ", ")
            .replacing("$myShelf", with: "\"x\"").replacing("$myBook", with: "\"x\"")
        var needs = outer.union(needs(field.appliedDirectives))
        var selection = ""
        if let type = schema.type(named: field.type.namedType), type.isComposite {
            selection = " { __typename }"
            for possible in schema.possibleTypes(of: type) {
                needs.formUnion(self.needs(possible.appliedDirectives))
            }
        }
        let call = field.name + (arguments.isEmpty ? "" : "(\(arguments))") + selection
        return Probe(
            name: name, query: document(call), needed: needs.subtracting(["session"]),
            isSessionOnly: needs.contains("session"))
    }

    static let roots: [Probe] = [
        ("query", schema.queryType), ("mutation", schema.mutationType),
        ("subscription", schema.subscriptionType),
    ].flatMap { kind, root in
        (root?.fieldsType?.fields ?? []).map { field in
            probe("\(kind) \(field.name)", field, needs: []) { "\(kind) { \($0) }" }
        }
    }

    /// The fields of all types that `Query.node` can return.
    static let members: [Probe] = schema.possibleTypes(
        of: schema.type(named: "Node") ?? schema.queryType
    ).flatMap { type in
        (type.fieldsType?.fields ?? []).map { field in
            probe("\(type.name).\(field.name)", field, needs: needs(type.appliedDirectives)) {
                "{ node(id: \"x\") { ... on \(type.name) { \($0) } } }"
            }
        }
    }

    private static let tokens = Shared {
        let reader = try await TestApp.start(catalog: []).makeReader()
        var tokens: [(scopes: Set<String>, token: ScopedReader)] = []
        for scopes in ScopeProperties.scopes.map({ [$0] }) + [ScopeProperties.scopes] {
            tokens.append((Set(scopes), try await ScopedReader(reader, scopes)))
        }
        return tokens
    }

    @Test func probesIncludeTheFields() {
        #expect(Self.scopes.count >= 5)
        #expect(Self.roots.count >= 50)
        #expect(Self.members.count >= 150)
        #expect(Self.roots.contains { $0.needed == ["FEED", "LIBRARY_WRITE"] })
        #expect(Self.members.contains { $0.needed == ["LIBRARY_READ", "PROGRESS"] })
    }

    @Test(arguments: roots + members)
    func fieldIsRefusedExactlyWithoutItsScopes(probe: Probe) async throws {
        for (scopes, token) in try await Self.tokens() {
            var granted = scopes
            if scopes.contains("LIBRARY_WRITE") { granted.insert("LIBRARY_READ") }
            let missing = Self.scopes.filter {
                probe.needed.contains($0) && !granted.contains($0)
            }
            let response = try await token.execute(probe.query)
            guard probe.isSessionOnly || !missing.isEmpty else {
                #expect(
                    response.code != "FORBIDDEN" && response.code != "UNAUTHENTICATED",
                    "\(scopes): \(response.json)")
                continue
            }
            #expect(response.isRequestError && response.code == "FORBIDDEN", "\(response.json)")
            #expect(
                response.errors.first?["extensions", "missingScopes"]
                    == (missing.isEmpty ? nil : .list(missing.map { .string($0) })))
            for scope in missing where !probe.isSessionOnly {
                #expect(response.message?.contains(scope) == true)
            }
        }
    }

    /// Sessions of apps have all scopes.
    @Test func noFieldIsForbiddenForASession() async throws {
        let reader = try await TestApp.start(catalog: []).makeReader()
        for probe in Self.members {
            #expect(try await reader.execute(probe.query).code != "FORBIDDEN", "\(probe.name)")
        }
    }

    /// Types whose objects any token may read, if a field with a scope returns them. A new type must either get a scope or be
    /// added here, if it has no data of a reader or is returned only by fields with scopes.
    @Test func typesWithoutAScopeAreListed() {
        let open = Self.schema.types.filter { type in
            guard case .object = type.kind, !type.name.hasPrefix("__") else { return false }
            return type.appliedDirectives.isEmpty && !type.name.hasSuffix("Connection")
                && !type.name.hasSuffix("Edge") && !type.name.hasSuffix("Payload")
                && !type.name.hasSuffix("Result")
        }.map(\.name).sorted()
        #expect(
            open == [
                "AppSettings", "Author", "AuthorCount", "AuthorizationRequest", "Bookstore",
                "Change", "ChangePage",
                "CoverEvent", "CoverImage", "DeletedAccount", "ExportPart", "FeedCard",
                "FormatCount",
                "Genre", "GenreCount", "IdentityProvider", "ImportFailure", "InputError",
                "Loan",
                "MonthCount", "MoodCount",
                "Mutation", "PageInfo", "Person", "PurchaseLink", "Query", "RatingCount",
                "ReadingDay", "ReadingTotals",
                "Series", "SeriesEntry", "Session", "Shared", "SharedBook", "SharedCover",
                "SharedLink", "SharedNote", "SharedReview", "SharedYear", "Subscription", "User",
                "Work", "YearCount",
            ])
        let user = Self.schema.type(named: "User")?.fieldsType?.fields ?? []
        #expect(user.filter { $0.appliedDirectives.isEmpty }.map(\.name) == ["id"])
    }

    @Test(arguments: [
        (
            "type Query {", "type Query {\n  invented: Int",
            "Query.invented has no @scope or @sessionOnly."
        ),
        (
            "enum AccessScope {", "enum AccessScope {\n  EVERYTHING",
            "AccessScope.EVERYTHING is not in both the schema and the program."
        ),
    ])
    func incompleteSchemaIsReported(old: String, new: String, problem: String) {
        let sdl = BookplateSchema.text.replacing(old, with: new)
        let errors = #expect(throws: RequestErrors.self) { try BookplateSchema(sdl: sdl) }
        #expect(errors?.errors.map(\.message) == [problem])
    }
}
