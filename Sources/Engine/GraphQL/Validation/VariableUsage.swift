/// The use of a variable, with the type that is expected there.
struct VariableUsage {
    /// The variable's node.
    let value: ValueNode
    /// The argument or input field whose value is the variable or a list that contains it; nil if
    /// it is unknown.
    let position: InputValueDefinition?
    /// The number of list literals between the argument or input field and the variable.
    var listDepth = 0
    /// The OneOf input object of which the variable is a member, if there is one.
    var oneOfParent: TypeDefinition?

    var nameID: NameID { value.reference.nameID }
    /// The name without the `$`.
    var nameText: String { value.reference.nameText }
    var range: SourceRange { value.range }

    /// The expected type; nil if it is unknown.
    var type: TypeReference? {
        (0..<listDepth).reduce(position?.type) { type, _ in type.map { $0.listItem ?? $0.nullable }
        }
    }

    /// Whether the variable is the value of an argument or input field that has a default value.
    var hasLocationDefault: Bool { listDepth == 0 && position?.defaultValue != nil }
}

extension ValidationContext {
    /// Returns the variables used in an operation and in the fragments that it reaches.
    mutating func variableUsages(
        of operation: OperationDefinition, at index: Int
    ) -> [VariableUsage] {
        guard !fragments.isEmpty else { return variableUsages[index] }
        let reached = references.reached(from: operation.selectionSet)
        reachedFragments[index] = reached
        return reached.reduce(into: variableUsages[index]) { usages, fragment in
            usages += variableUsages[fragments.definitionIndices[fragment]]
        }
    }

    /// Records every variable in a value, with the type that is expected there.
    mutating func recordUsages(in value: ValueNode, at position: InputPosition?) {
        if value.isVariable {
            variableUsages[definitionIndex].append(
                VariableUsage(value: value, position: position?.definition))
        } else if value.containsVariables {
            recordUsages(inside: NestedValue(value: value, position: position))
        }
    }

    private mutating func recordUsages(inside value: NestedValue) {
        var pending = [value]
        while let (value, position) = pending.popLast().map({ ($0, $0.position) }) {
            switch value.value.kind {
            case .variable:
                variableUsages[definitionIndex].append(
                    VariableUsage(
                        value: value.value, position: position?.definition,
                        listDepth: value.listDepth,
                        oneOfParent: value.oneOfParent))
            case .list(let items):
                pending +=
                    items.map {
                        NestedValue(
                            value: $0, position: position, listDepth: value.listDepth + 1,
                            oneOfParent: value.misplacedOneOf)
                    }.reversed()
            case .object(let fields):
                let inputObject = position?.inputObject
                let oneOf = inputObject?.isOneOf == true ? position?.namedType : nil
                pending +=
                    fields.map { field in
                        NestedValue(
                            value: field.value,
                            position: inputObject.flatMap { inputPosition(of: field, in: $0) },
                            oneOfParent: oneOf)
                    }.reversed()
            case .int, .float, .string, .boolean, .null, .enumeration:
                break
            }
        }
    }
}

/// A value inside another one, with the type that is expected there.
private struct NestedValue {
    let value: ValueNode
    /// The argument or input field. The value can be inside lists of it.
    let position: InputPosition?
    var listDepth = 0
    var oneOfParent: TypeDefinition?

    /// The OneOf input object that is expected here although a list was given. The list items then
    /// count as values of its members.
    var misplacedOneOf: TypeDefinition? {
        guard let position, position.inputObject?.isOneOf == true else { return nil }
        let type = (0..<listDepth).reduce(position.type) { type, _ in type.listItem ?? type.nullable
        }
        return type.nullable.listItem == nil ? position.namedType : nil
    }
}
