/// A subscription has exactly one root field. Introspection fields, `@skip`, and `@include` are not
/// allowed on it.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Single-Root-Field
struct SingleFieldSubscriptionsRule: ValidationRule {
    func enter(_ operation: OperationDefinition, in context: inout ValidationContext) {
        guard operation.kind == .subscription, let root = context.schema.subscriptionType else {
            return
        }
        let name = operation.name.map { "Subscription \"\($0.value)\"" } ?? "Anonymous Subscription"
        let selected = RootFields(of: operation, on: root, in: context)
        guard selected.conditions.isEmpty else {
            context.report(
                "\(name) must not use `@skip` or `@include` directives in the top level selection.",
                at: selected.conditions)
            return
        }
        if selected.groups.count > 1 {
            context.report(
                "\(name) must select only one top level field.",
                at: selected.groups.dropFirst().flatMap { $0.map(\.range) })
        }
        for group in selected.groups where group[0].name.value.hasPrefix("__") {
            context.report(
                "\(name) must not select an introspection top level field.",
                at: group.map(\.range))
        }
    }
}

/// The root fields of an operation by response key, including those of fragments.
///
/// Spec: https://spec.graphql.org/September2025/#CollectSubscriptionFields()
private struct RootFields {
    var groups: [[Field]] = []
    /// The ranges of `@skip` and `@include` on root selections.
    var conditions: [SourceRange] = []
    private var indices: [String: Int] = [:]

    init(of operation: OperationDefinition, on root: TypeDefinition, in context: ValidationContext)
    {
        var spread: Set<NameID> = []
        // The remaining selections of each open selection set. An explicit stack, because a
        // document can nest as many fragments as it defines.
        var stack = [operation.selectionSet.selections[...]]
        while var rest = stack.popLast() {
            guard let selection = rest.popFirst() else { continue }
            stack.append(rest)
            switch selection {
            case .field(let field):
                collectConditions(field.directives)
                collect(field)
            case .inlineFragment(let fragment):
                collectConditions(fragment.directives)
                guard Self.applies(fragment.typeCondition, to: root, in: context.schema) else {
                    continue
                }
                stack.append(fragment.selectionSet.selections[...])
            case .fragmentSpread(let fragmentSpread):
                collectConditions(fragmentSpread.directives)
                let name = fragmentSpread.nameID
                guard spread.insert(name).inserted, let fragment = context.fragments[name],
                    Self.applies(fragment.typeCondition, to: root, in: context.schema)
                else { continue }
                stack.append(fragment.selectionSet.selections[...])
            }
        }
    }

    private mutating func collect(_ field: Field) {
        if let index = indices[field.responseKey] {
            groups[index].append(field)
        } else {
            indices[field.responseKey] = groups.count
            groups.append([field])
        }
    }

    private mutating func collectConditions(_ directives: NodeList<Directive>) {
        for directive in directives where ["skip", "include"].contains(directive.name.value) {
            conditions.append(directive.range)
        }
    }

    private static func applies(
        _ condition: Name?, to root: TypeDefinition, in schema: Schema
    ) -> Bool {
        guard let condition else { return true }
        return condition.value == root.name
            || schema.isPossibleType(root.name, of: condition.value)
    }
}
