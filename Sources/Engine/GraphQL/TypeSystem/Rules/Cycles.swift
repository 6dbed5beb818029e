/// A depth-first search for cycles in a graph of named nodes.
///
/// It uses an explicit stack, because a path can be as long as the document. Each node is entered
/// once, also across calls of `search`. A cycle is reported when an edge leads to a node of the
/// current path.
struct CycleSearch<Edge> {
    /// Returns the outgoing edges of a node with their targets.
    let edges: (String) -> [(edge: Edge, target: String)]
    private var visited: Set<String> = []

    init(edges: @escaping (String) -> [(edge: Edge, target: String)]) { self.edges = edges }

    /// Searches from `root` and calls `report` for every cycle found, with the node at which it
    /// starts and ends, and with its edges.
    mutating func search(from root: String, report: (_ start: String, _ cycle: [Edge]) -> Void) {
        guard visited.insert(root).inserted else { return }
        var steps = [(node: root, edges: edges(root)[...])]
        var path: [Edge] = []
        var pathIndices = [root: 0]
        while var step = steps.popLast() {
            guard let (edge, target) = step.edges.popFirst() else {
                pathIndices[step.node] = nil
                _ = path.popLast()
                continue
            }
            steps.append(step)
            if let start = pathIndices[target] {
                report(target, path[start...] + [edge])
            } else if visited.insert(target).inserted {
                path.append(edge)
                pathIndices[target] = path.count
                steps.append((target, edges(target)[...]))
            }
        }
    }
}

/// Checks that a finite value exists for every input object: it must not require itself through
/// non-null fields or, for a OneOf input object, through all of its fields.
///
/// Spec: https://spec.graphql.org/September2025/#InputObjectHasUnbreakableCycle()
func checkInputObjectCycles(_ parts: SchemaParts, _ context: inout ValidationContext) {
    let inputObjects = parts.types.filter {
        if case .inputObject = $0.definition.body { true } else { false }
    }
    let requirements = Dictionary(
        inputObjects.map { ($0.name.value, requiredReferences(of: $0, parts)) },
        uniquingKeysWith: { first, _ in first })
    let infinite = typesWithoutFiniteValue(inputObjects, requirements)
    var search = CycleSearch<RequiredReference> { name in
        (requirements[name] ?? []).filter { infinite.contains($0.target) }
    }
    for type in inputObjects where infinite.contains(type.name.value) {
        search.search(from: type.name.value) { start, cycle in
            let names = cycle.map(\.field.name.value)
            let paths = cycle.map { "\($0.type).\($0.field.name.value)" }
            let involvesOneOf = cycle.contains { !$0.field.type.isNonNull }
            context.report(
                involvesOneOf
                    ? "Input Object \(start) cannot be provided a finite value because it references "
                        + "itself through fields: \(paths.joined(separator: ", "))."
                    : "Cannot reference Input Object \"\(start)\" within itself through a series of "
                        + "non-null fields: \"\(names.joined(separator: "."))\".",
                at: cycle.map(\.field.range))
        }
    }
}

/// A field that requires a value of another input object, and the type that defines the field.
private struct RequiredReference {
    let type: String
    let field: InputValueDefinitionNode
}

private func requiredReferences(
    of type: TypeParts, _ parts: SchemaParts
) -> [(edge: RequiredReference, target: String)] {
    type.inputFields.compactMap { field in
        guard type.isOneOf || field.type.isNonNull, case .named(let name) = field.type.nullable,
            case .inputObject? = parts[name.value]?.definition.body
        else { return nil }
        return (RequiredReference(type: type.name.value, field: field), name.value)
    }
}

/// Returns the input objects for which no finite value exists.
///
/// All input objects start as infinite. An input object becomes finite when none of its required
/// references is infinite any more or, for a OneOf input object, when at least one of its fields is
/// not. Each one that becomes finite can make its dependents finite. The rest is the result.
///
/// Example: in `input A { b: B! }`, `input B { c: C! }`, and `input C { b: B }`, C has no required
/// references, so it is finite. This makes B finite, which makes A finite. With `input C { b: B!
/// }`, none of them would be.
private func typesWithoutFiniteValue(
    _ types: [TypeParts], _ requirements: [String: [(edge: RequiredReference, target: String)]]
) -> Set<String> {
    var infinite = Set(types.map(\.name.value))
    // The types that require each type, and the number of its own requirements that are still
    // infinite.
    var dependents: [String: [TypeParts]] = [:]
    var remainingCounts: [String: Int] = [:]
    var finite: [TypeParts] = []
    for type in types {
        let required = requirements[type.name.value] ?? []
        for (_, target) in required { dependents[target, default: []].append(type) }
        remainingCounts[type.name.value] = required.count
        let hasOtherMember = type.isOneOf && required.count < type.inputFields.count
        if required.isEmpty || hasOtherMember { finite.append(type) }
    }
    while let type = finite.popLast() {
        guard infinite.remove(type.name.value) != nil else { continue }
        for dependent in dependents[type.name.value] ?? [] {
            remainingCounts[dependent.name.value, default: 0] -= 1
            if dependent.isOneOf || remainingCounts[dependent.name.value] == 0 {
                finite.append(dependent)
            }
        }
    }
    return infinite
}

/// Checks that no directive is used in its own definition, directly or through other directives or
/// the types of its arguments.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Type-System.Directives.Type-Validation
func checkDirectiveCycles(_ parts: SchemaParts, _ context: inout ValidationContext) {
    let directives = Dictionary(
        parts.directives.map { ("@" + $0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
    // The nodes are types, by name, and directives, by `@name`.
    var search = CycleSearch<SourceRange> { name in
        if let directive = directives[name] { return references(of: directive.arguments) }
        guard let type = parts[name] else { return [] }
        return references(to: type.directives)
            + type.values.flatMap { references(to: $0.directives) }
            + references(of: type.inputFields)
    }
    for directive in parts.directives {
        search.search(from: "@" + directive.name.value) { start, cycle in
            guard start.hasPrefix("@") else { return }
            context.report(
                "Directive \"\(start)\" must not reference itself, directly or indirectly.",
                at: cycle)
        }
    }
}

private func references(
    of inputValues: some Collection<InputValueDefinitionNode>
) -> [(edge: SourceRange, target: String)] {
    inputValues.flatMap {
        references(to: $0.directives) + [(edge: $0.type.range, target: $0.type.namedType)]
    }
}

private func references(
    to directives: some Collection<Directive>
) -> [(edge: SourceRange, target: String)] {
    directives.map { ($0.range, "@" + $0.name.value) }
}
