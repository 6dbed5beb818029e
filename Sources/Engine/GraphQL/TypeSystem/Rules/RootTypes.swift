/// Checks the root types: a query type exists, and all root types are different object types.
///
/// Spec: https://spec.graphql.org/September2025/#sec-Root-Operation-Types
func checkRootTypes(_ parts: SchemaParts, _ context: inout ValidationContext) {
    var kindsByType: [(type: String, kinds: [OperationKind], ranges: [SourceRange])] = []
    for kind in OperationKind.allCases {
        guard let name = parts.rootTypeName(of: kind) else {
            if kind == .query {
                context.report(
                    "Query root type must be provided.",
                    at: parts.schema.map { [$0.range] } ?? [])
            }
            continue
        }
        let isNamed = parts.schemas.contains { $0.operationTypes.contains { $0.kind == kind } }
        let range = isNamed ? name.range : parts[name.value]?.definition.range
        guard let type = context.schema.type(named: name.value), case .object = type.kind else {
            let ifProvided = kind == .query ? "" : " if provided"
            context.report(
                "\(kind.defaultTypeName) root type must be Object type\(ifProvided), it cannot be "
                    + "\(name.value).", at: range.map { [$0] } ?? [])
            continue
        }
        if let index = kindsByType.firstIndex(where: { $0.type == name.value }) {
            kindsByType[index].kinds.append(kind)
            kindsByType[index].ranges.append(name.range)
        } else {
            kindsByType.append((name.value, [kind], [name.range]))
        }
    }
    for (type, kinds, ranges) in kindsByType where kinds.count > 1 {
        context.report(
            "All root types must be different, \"\(type)\" type is used as "
                + "\(list(kinds.map(\.rawValue))) root types.", at: ranges)
    }
}

/// Joins names for an error message: `a and b` or `a, b, and c`.
private func list(_ names: [String]) -> String {
    names.count > 2
        ? names.dropLast().joined(separator: ", ") + ", and " + names[names.count - 1]
        : names.joined(separator: " and ")
}
