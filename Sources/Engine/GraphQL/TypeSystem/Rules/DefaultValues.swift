/// Checks the default values of input fields.
///
/// If a default value omits a field of an input object, the default value of that field is used. No
/// default value may reference itself that way. The total nesting depth of a default value,
/// including the default values that it references, is limited, because releasing a deeply nested
/// value is recursive and could overflow the stack.
///
/// Spec: https://spec.graphql.org/September2025/#InputFieldDefaultValueHasCycle()
func checkDefaultValues(_ parts: SchemaParts, _ context: inout ValidationContext) {
    let defaults = DefaultValues(parts)
    var hasCycles = false
    var search = CycleSearch<DefaultValues.Reference> { path in
        defaults.references(of: path).map { ($0, $0.path) }
    }
    for path in defaults.paths {
        search.search(from: path) { start, cycle in
            hasCycles = true
            let via = cycle.dropLast().map(\.path)
            context.report(
                "Invalid circular reference. The default value of Input Object field \(start) references "
                    + "itself"
                    + (via.isEmpty
                        ? "." : " via the default values of: \(via.joined(separator: ", "))."),
                at: (cycle.suffix(1) + cycle.dropLast()).compactMap { defaults.range(of: $0.path) })
        }
    }
    if !hasCycles { checkDepth(of: defaults, &context) }
}

/// The maximum nesting depth of a coerced default value: the same as that of a document.
private let depthMax = ParseLimits.trusted.nestingMax

/// Reports the default values that are nested too deeply. In a chain of references, only the first
/// one that exceeds the limit is reported, not those that reference it.
private func checkDepth(of defaults: DefaultValues, _ context: inout ValidationContext) {
    var known: [String: Int] = [:]
    for root in defaults.paths where known[root] == nil {
        // Visit the referenced default values first. An explicit stack, because a chain can be as
        // long as the document.
        var path = [(node: root, references: defaults.references(of: root)[...])]
        while var step = path.popLast() {
            if let reference = step.references.popFirst() {
                path.append(step)
                if known[reference.path] == nil {
                    path.append((reference.path, defaults.references(of: reference.path)[...]))
                }
                continue
            }
            let referenced = defaults.references(of: step.node).map {
                $0.depth + (known[$0.path] ?? 0)
            }
            let depth = max(defaults.depth(of: step.node), referenced.max() ?? 0)
            // After reporting an error, count from zero, so that the referencing values are not
            // reported too.
            known[step.node] = depth > depthMax ? 0 : depth
            guard depth > depthMax, let range = defaults.range(of: step.node) else { continue }
            context.report(
                "The default value of Input Object field \(step.node) has \(depth) levels including the "
                    + "default values it references; at most \(depthMax) are allowed.", at: range)
        }
    }
}

/// The default values of all input fields, with their references to one another.
private struct DefaultValues {
    /// A reference to the default value of another field, which is used because the literal omits
    /// that field.
    struct Reference {
        let path: String
        /// The number of lists and objects around the reference.
        let depth: Int
    }

    /// The fields with a default value as `Type.field`, in the order of the types.
    private(set) var paths: [String] = []
    private var defaults: [String: Default] = [:]

    private struct Default {
        let range: SourceRange
        /// The nesting depth of the literal itself.
        var depth = 0
        var references: [Reference] = []
    }

    init(_ parts: SchemaParts) {
        for type in parts.types {
            for field in type.inputFields {
                guard let value = field.defaultValue else { continue }
                let path = "\(type.name.value).\(field.name.value)"
                paths.append(path)
                defaults[path] = Self.read(value, of: field.type.namedType, parts)
            }
        }
    }

    func range(of path: String) -> SourceRange? { defaults[path]?.range }
    func depth(of path: String) -> Int { defaults[path]?.depth ?? 0 }
    func references(of path: String) -> [Reference] {
        (defaults[path]?.references ?? []).filter { defaults[$0.path] != nil }
    }

    /// Collects the depth and the references of a literal, in the order of the type's fields.
    /// `pending` is a stack.
    private static func read(
        _ value: ValueNode, of typeName: String, _ parts: SchemaParts
    ) -> Default {
        enum Part {
            case value(ValueNode, typeName: String, depth: Int)
            case reference(Reference)
        }
        var read = Default(range: value.range)
        var pending = [Part.value(value, typeName: typeName, depth: 0)]
        while let part = pending.popLast() {
            switch part {
            case .reference(let reference):
                read.references.append(reference)
            case .value(let value, let typeName, let outerDepth):
                let depth = outerDepth + 1
                switch value.kind {
                case .list(let items):
                    read.depth = max(read.depth, depth)
                    pending += items.map { .value($0, typeName: typeName, depth: depth) }
                        .reversed()
                case .object(let given):
                    read.depth = max(read.depth, depth)
                    let fields = parts[typeName]?.inputFields ?? []
                    pending +=
                        fields.map { field in
                            given.first { $0.name == field.name }.map {
                                .value($0.value, typeName: field.type.namedType, depth: depth)
                            }
                                ?? .reference(
                                    Reference(path: "\(typeName).\(field.name.value)", depth: depth)
                                )
                        }.reversed()
                case .variable, .int, .float, .string, .boolean, .null, .enumeration:
                    break
                }
            }
        }
        return read
    }
}
