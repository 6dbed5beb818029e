/// `@defer` and `@stream` are used where they are supported. Four rules of graphql-js 17:
///
/// - DeferStreamDirectiveOnRootField: not on the root fields of a mutation or subscription, which are executed one after the
///   other, or once for each event.
/// - DeferStreamDirectiveOnValidOperations: not in a subscription, unless `if` can be false.
/// - DeferStreamDirectiveLabel: a label is a string, and unique in the document.
/// - StreamDirectiveOnListField: `@stream` is on a list.
///
/// Spec: https://github.com/graphql/graphql-spec/pull/1110
struct IncrementalDirectiveRules: ValidationRule {
    /// The directives with labels by label.
    private var labels: [String: SourceRange] = [:]
    /// Whether the current definition is a subscription, or a fragment of one.
    private var isInSubscription = false
    /// The indices of the fragments that subscriptions reach.
    private var fragmentsOfSubscriptions: Set<Int> = []

    mutating func enter(_ operation: OperationDefinition, in context: inout ValidationContext) {
        isInSubscription = operation.kind == .subscription
        guard isInSubscription, context.schema.hasIncrementalDelivery else { return }
        fragmentsOfSubscriptions.formUnion(
            context.references.reached(from: operation.selectionSet))
    }

    mutating func enter(_ fragment: FragmentDefinition, in context: inout ValidationContext) {
        let index = context.fragments.index(of: fragment.nameID)
        isInSubscription = index.map(fragmentsOfSubscriptions.contains) == true
    }

    mutating func enter(
        _ directive: Directive, at location: DirectiveLocation, in context: inout ValidationContext
    ) {
        guard context.schema.hasIncrementalDelivery else { return }
        let name: String
        switch directive.nameText {
        case "defer": name = "Defer"
        case "stream": name = "Stream"
        default: return
        }
        checkRoot(directive, name, in: &context)
        if isInSubscription, !Self.canBeDisabled(directive) {
            context.report(
                "\(name) directive not supported on subscription operations. Disable "
                    + "`@\(directive.nameText)` by setting the `if` argument to `false`.",
                at: directive.range)
        }
        checkLabel(directive, name, in: &context)
        if name == "Stream", let type = context.parentType, let field = context.field,
            field.type.listItem == nil
        {
            context.report(
                "Stream directive cannot be used on non-list field \"\(field.name)\" on type \"\(type.name)\".",
                at: directive.range)
        }
    }

    private func checkRoot(
        _ directive: Directive, _ name: String, in context: inout ValidationContext
    ) {
        guard let type = context.parentType else { return }
        for (root, kind) in [
            (context.schema.mutationType, "mutation"),
            (context.schema.subscriptionType, "subscription"),
        ] where root === type {
            context.report(
                "\(name) directive cannot be used on root \(kind) type \"\(type.name)\".",
                at: directive.range)
        }
    }

    /// Returns whether the condition is `false` or a variable.
    private static func canBeDisabled(_ directive: Directive) -> Bool {
        switch directive.arguments.first(where: { $0.name.value == "if" })?.value.kind {
        case .boolean(let value): !value
        case .variable: true
        default: false
        }
    }

    private mutating func checkLabel(
        _ directive: Directive, _ name: String, in context: inout ValidationContext
    ) {
        guard let argument = directive.arguments.first(where: { $0.name.value == "label" }) else {
            return
        }
        if case .null = argument.value.kind { return }
        guard case .string(let label) = argument.value.kind else {
            return context.report(
                "\(name) directive label argument must be a static string.", at: directive.range)
        }
        if let first = labels.updateValue(directive.range, forKey: label.value) {
            labels[label.value] = first
            context.report(
                "Defer/Stream directive label argument must be unique.", at: first,
                directive.range)
        }
    }
}
