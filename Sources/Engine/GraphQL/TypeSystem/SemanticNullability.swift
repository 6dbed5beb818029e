/// The directive `@semanticNonNull`: a nullable value is null only if there is an error at its position.
///
/// A schema opts in by defining the directive:
///
///     directive @semanticNonNull(levels: [Int!]! = [0]) on FIELD_DEFINITION
///
///     type Query { books: [Book] @semanticNonNull(levels: [0, 1]) }
///
/// `levels` are list depths: 0 is the value of the field, and 1 its items. A null at such a position without an error is
/// replaced by an error. Unlike that of a non-nullable type, the error does not propagate.
///
/// Spec: https://specs.apollo.dev/nullability/v0.4/#@semanticNonNull
extension Collection<Directive> {
    /// The levels of the directive, as written; empty without the directive.
    var semanticNonNullLevels: [Int] {
        guard let directive = semanticNonNull else { return [] }
        switch directive.arguments.first(where: { $0.name.value == "levels" })?.value.kind {
        case nil: return [0]
        case .int(let digits)?: return Int(digits).map { [$0] } ?? []
        case .list(let items)?:
            return items.compactMap {
                if case .int(let digits) = $0.kind { Int(digits) } else { nil }
            }
        default: return []
        }
    }

    private var semanticNonNull: Directive? { first { $0.name.value == "semanticNonNull" } }
}

/// Checks that the levels of `@semanticNonNull` are positions of the field's type.
func checkSemanticNullability(
    _ field: FieldDefinitionNode, _ path: String, _ context: inout ValidationContext
) {
    let depth = Completion(field.type).listDepth
    for level in field.directives.semanticNonNullLevels where level < 0 || level > depth {
        context.report(
            "@semanticNonNull of \(path) has the level \(level), but its type \(print(field.type)) has only levels from 0 to \(depth).",
            at: field.range)
    }
}
