@testable import GraphQL

/// Counts the nodes for which the hooks of a validation rule are called.
struct CountingRule: ValidationRule {
    private(set) var nodesCount = 0

    mutating func enter(_ operation: OperationDefinition, in context: inout ValidationContext) {
        nodesCount += 1
    }

    mutating func enter(_ fragment: FragmentDefinition, in context: inout ValidationContext) {
        nodesCount += 1
    }

    mutating func enter(_ variable: VariableDefinition, in context: inout ValidationContext) {
        nodesCount += 1
    }

    mutating func enter(_ selectionSet: SelectionSet, in context: inout ValidationContext) {
        nodesCount += 1
    }

    mutating func enter(_ field: Field, in context: inout ValidationContext) { nodesCount += 1 }

    mutating func enter(_ spread: FragmentSpread, in context: inout ValidationContext) {
        nodesCount += 1
    }

    mutating func enter(_ fragment: InlineFragment, in context: inout ValidationContext) {
        nodesCount += 1
    }

    mutating func enter(
        _ directive: Directive, at location: DirectiveLocation, in context: inout ValidationContext
    ) { nodesCount += 1 }

    mutating func enter(_ argument: Argument, in context: inout ValidationContext) {
        nodesCount += 1
    }

    mutating func enter(_ value: ValueNode, in context: inout ValidationContext) {
        nodesCount += 1
    }
}
