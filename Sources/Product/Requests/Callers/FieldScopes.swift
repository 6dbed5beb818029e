import GraphQL

/// The scopes that fields need, from the directives `@scope` and `@sessionOnly` of `schema.graphql`.
package struct FieldScopes: Sendable {
    private let fields: [ObjectIdentifier: ScopeSet]
    private let types: [ObjectIdentifier: ScopeSet]

    /// - Throws: Errors that name the problems, such as root fields without a directive.
    package init(_ schema: Schema) throws(RequestErrors) {
        var problems = Self.problems(in: schema)
        var fields: [ObjectIdentifier: ScopeSet] = [:]
        var types: [ObjectIdentifier: ScopeSet] = [:]
        for type in schema.types {
            types[ObjectIdentifier(type)] = Self.scopes(type.appliedDirectives)
            for field in type.fieldsType?.fields ?? [] {
                fields[ObjectIdentifier(field)] = Self.scopes(field.appliedDirectives)
            }
        }
        for root in [schema.queryType, schema.mutationType, schema.subscriptionType] {
            for field in root?.fieldsType?.fields ?? [] where !Self.hasDirective(field) {
                problems.append("\(root?.name ?? "").\(field.name) has no @scope or @sessionOnly.")
            }
        }
        guard problems.isEmpty else { throw RequestErrors(problems.map { GraphQLError($0) }) }
        self.fields = fields
        self.types = types
    }

    /// Returns the scopes of a field and of the type that declares it.
    package func scopes(of field: FieldDefinition, of type: TypeDefinition) -> ScopeSet {
        (fields[ObjectIdentifier(field)] ?? []).union(types[ObjectIdentifier(type)] ?? [])
    }

    private static func hasDirective(_ field: FieldDefinition) -> Bool {
        field.appliedDirectives.contains { ["scope", "sessionOnly"].contains($0.name.value) }
    }

    private static func scopes(_ directives: [Directive]) -> ScopeSet {
        var scopes: ScopeSet = []
        for directive in directives {
            if directive.name.value == "sessionOnly" { scopes.insert(.sessionOnly) }
            guard directive.name.value == "scope",
                case .enumeration(let name)? = directive.arguments.first?.value.kind,
                let scope = AccessScope(rawValue: name)
            else { continue }
            scopes.insert(scope.set)
        }
        return scopes
    }

    /// Returns the differences between the values of the enum `AccessScope` and those of the program.
    private static func problems(in schema: Schema) -> [String] {
        guard case .enumeration(let values)? = schema.type(named: "AccessScope")?.kind else {
            return ["The schema has no enum AccessScope."]
        }
        return Set(values.map(\.name)).symmetricDifference(AccessScope.allCases.map(\.rawValue))
            .sorted().map { "AccessScope.\($0) is not in both the schema and the program." }
    }
}
