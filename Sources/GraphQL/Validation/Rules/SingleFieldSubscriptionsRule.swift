/// A subscription selects one field that is no introspection, always: no `@skip` or `@include` decides about it.
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

/// The root fields of an operation by response key, through its fragments.
///
/// Spec: https://spec.graphql.org/September2025/#CollectSubscriptionFields()
private struct RootFields {
    var groups: [[Field]] = []
    /// `@skip` and `@include` at the root.
    var conditions: [SourceRange] = []
    private var indices: [String: Int] = [:]

    init(of operation: OperationDefinition, on root: TypeDefinition, in context: ValidationContext)
    {
        var spread: Set<NameID> = []
        // A stack of what is left of each selection set: fragments may be nested as deep as they are many.
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
