/// A depth-first search for cycles among named things, with a stack of its own: a chain may be as long as the document.
///
/// Every node is entered once. A cycle is told when the search meets a node of the path it is on.
struct CycleSearch<Edge> {
    /// What leads on from a node, and where to.
    let edges: (String) -> [(edge: Edge, target: String)]
    private var visited: Set<String> = []

    init(edges: @escaping (String) -> [(edge: Edge, target: String)]) { self.edges = edges }

    /// Calls `report` with the edges of every cycle that is found from `root`, and the node it starts and ends at.
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

/// No input object needs itself to be given: neither through non-null fields nor, for a OneOf, through every field.
///
/// Spec: https://spec.graphql.org/September2025/#InputObjectHasUnbreakableCycle()
func checkInputObjectCycles(_ parts: SchemaParts, _ context: inout ValidationContext) {
    let inputObjects = parts.types.filter {
        if case .inputObject = $0.definition.body { true } else { false }
    }
    let needs = Dictionary(
        inputObjects.map { ($0.name.value, neededFields(of: $0, parts)) },
        uniquingKeysWith: { first, _ in first })
    let endless = endlessTypes(inputObjects, needs)
    var search = CycleSearch<NeededField> { name in
        (needs[name] ?? []).filter { endless.contains($0.target) }
    }
    for type in inputObjects where endless.contains(type.name.value) {
        search.search(from: type.name.value) { start, cycle in
            let names = cycle.map(\.field.name.value)
            let paths = cycle.map { "\($0.type).\($0.field.name.value)" }
            let isOfOneOf = cycle.contains { !$0.field.type.isNonNull }
            context.report(
                isOfOneOf
                    ? "Input Object \(start) cannot be provided a finite value because it references "
                        + "itself through fields: \(paths.joined(separator: ", "))."
                    : "Cannot reference Input Object \"\(start)\" within itself through a series of "
                        + "non-null fields: \"\(names.joined(separator: "."))\".",
                at: cycle.map(\.field.range))
        }
    }
}

/// A field that must be given an input object of its own, and the type it is a field of.
private struct NeededField {
    let type: String
    let field: InputValueDefinitionNode
}

private func neededFields(
    of type: TypeParts, _ parts: SchemaParts
) -> [(edge: NeededField, target: String)] {
    type.inputFields.compactMap { field in
        guard type.isOneOf || field.type.isNonNull, case .named(let name) = field.type.nullable,
            case .inputObject? = parts[name.value]?.definition.body
        else { return nil }
        return (NeededField(type: type.name.value, field: field), name.value)
    }
}

/// The input objects no finite value exists for: what remains when all that can end has been taken away.
private func endlessTypes(
    _ types: [TypeParts], _ needs: [String: [(edge: NeededField, target: String)]]
) -> Set<String> {
    var endless = Set(types.map(\.name.value))
    // For each type: who needs it, and how many of its own needs are still endless.
    var dependents: [String: [TypeParts]] = [:]
    var needsLeft: [String: Int] = [:]
    var ended: [TypeParts] = []
    for type in types {
        let needed = needs[type.name.value] ?? []
        for (_, target) in needed { dependents[target, default: []].append(type) }
        needsLeft[type.name.value] = needed.count
        let hasOtherField = type.isOneOf && needed.count < type.inputFields.count
        if needed.isEmpty || hasOtherField { ended.append(type) }
    }
    while let type = ended.popLast() {
        guard endless.remove(type.name.value) != nil else { continue }
        for dependent in dependents[type.name.value] ?? [] {
            needsLeft[dependent.name.value, default: 0] -= 1
            if dependent.isOneOf || needsLeft[dependent.name.value] == 0 { ended.append(dependent) }
        }
    }
    return endless
}

/// No directive is used in its own definition, not even through others or through the types of its arguments.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Type-System.Directives.Type-Validation
func checkDirectiveCycles(_ parts: SchemaParts, _ context: inout ValidationContext) {
    let directives = Dictionary(
        parts.directives.map { ("@" + $0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
    // Nodes are types by name and directives by `@name`.
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
