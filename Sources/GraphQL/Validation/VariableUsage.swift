/// A variable where it is used, and what that place asks of it.
struct VariableUsage {
    /// The variable's node.
    let value: ValueNode
    /// The argument or input field that it is the value of, or in whose lists it stands; nil where that is unknown.
    let place: InputValueDefinition?
    /// In how many of the place's lists it stands.
    var listsCount = 0
    /// The OneOf input object of which this is a member's value.
    var oneOfParent: TypeDefinition?

    var nameID: NameID { value.reference.nameID }
    /// Without the `$`.
    var nameText: String { value.reference.nameText }
    var range: SourceRange { value.range }

    /// What the place expects; nil where that is unknown.
    var type: TypeReference? {
        (0..<listsCount).reduce(place?.type) { type, _ in type.map { $0.listItem ?? $0.nullable } }
    }

    /// The argument or input field has a default of its own.
    var hasLocationDefault: Bool { listsCount == 0 && place?.defaultValue != nil }
}

extension ValidationContext {
    /// Variables used in an operation and in the fragments it reaches.
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

    /// Records every variable of a value, with what its place asks for.
    mutating func recordUsages(in value: ValueNode, at place: InputPlace?) {
        if value.isVariable {
            variableUsages[definitionIndex].append(
                VariableUsage(value: value, place: place?.definition))
        } else if value.mentionsVariables {
            recordUsages(inside: ValuePlace(value: value, place: place))
        }
    }

    private mutating func recordUsages(inside value: ValuePlace) {
        var pending = [value]
        while let (value, place) = pending.popLast().map({ ($0, $0.place) }) {
            switch value.value.kind {
            case .variable:
                variableUsages[definitionIndex].append(
                    VariableUsage(
                        value: value.value, place: place?.definition, listsCount: value.listsCount,
                        oneOfParent: value.oneOfParent))
            case .list(let items):
                pending +=
                    items.map {
                        ValuePlace(
                            value: $0, place: place, listsCount: value.listsCount + 1,
                            oneOfParent: value.misplacedOneOf)
                    }.reversed()
            case .object(let fields):
                let inputObject = place?.inputObject
                let oneOf = inputObject?.isOneOf == true ? place?.namedType : nil
                pending +=
                    fields.map { field in
                        ValuePlace(
                            value: field.value,
                            place: inputObject.flatMap { inputPlace(of: field, in: $0) },
                            oneOfParent: oneOf)
                    }.reversed()
            case .int, .float, .string, .boolean, .null, .enumeration:
                break
            }
        }
    }
}

/// A value inside another, and what its place asks of it.
private struct ValuePlace {
    let value: ValueNode
    /// Of the argument or input field, in whose lists it may be.
    let place: InputPlace?
    var listsCount = 0
    var oneOfParent: TypeDefinition?

    /// The OneOf input object that is expected where a list is given: the list's items count as its members' values.
    var misplacedOneOf: TypeDefinition? {
        guard let place, place.inputObject?.isOneOf == true else { return nil }
        let type = (0..<listsCount).reduce(place.type) { type, _ in type.listItem ?? type.nullable }
        return type.nullable.listItem == nil ? place.namedType : nil
    }
}
