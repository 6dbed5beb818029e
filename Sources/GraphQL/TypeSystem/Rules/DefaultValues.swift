/// No default value of an input field needs itself: where a default leaves a field out, that field's default is used.
/// And none becomes so deep that way that what handles values would need more of the stack than there is.
///
/// Spec: https://spec.graphql.org/September2025/#InputFieldDefaultValueHasCycle()
func checkDefaultValues(_ parts: SchemaParts, _ context: inout ValidationContext) {
    let defaults = DefaultValues(parts)
    var hasCycles = false
    var search = CycleSearch<DefaultValues.Use> { path in
        defaults.uses(of: path).map { ($0, $0.path) }
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
    if !hasCycles { checkLevels(of: defaults, &context) }
}

/// Levels of lists and objects of one coerced default value: as many as a document may have.
private let levelsMax = ParseLimits.trusted.nestingMax

/// Tells the first of each chain that is too deep, not those that only use it.
private func checkLevels(of defaults: DefaultValues, _ context: inout ValidationContext) {
    var known: [String: Int] = [:]
    for root in defaults.paths where known[root] == nil {
        // Those that are used first, with a stack of its own: a chain may be as long as the document.
        var path = [(node: root, uses: defaults.uses(of: root)[...])]
        while var step = path.popLast() {
            if let use = step.uses.popFirst() {
                path.append(step)
                if known[use.path] == nil {
                    path.append((use.path, defaults.uses(of: use.path)[...]))
                }
                continue
            }
            let used = defaults.uses(of: step.node).map { $0.levels + (known[$0.path] ?? 0) }
            let levels = max(defaults.levels(of: step.node), used.max() ?? 0)
            // What uses it begins anew.
            known[step.node] = levels > levelsMax ? 0 : levels
            guard levels > levelsMax, let range = defaults.range(of: step.node) else { continue }
            context.report(
                "The default value of Input Object field \(step.node) has \(levels) levels with the "
                    + "default values it uses; at most \(levelsMax) are allowed.", at: range)
        }
    }
}

/// The default values of all input fields.
private struct DefaultValues {
    /// The default of another field that a default makes use of.
    struct Use {
        let path: String
        /// Of lists and objects around it.
        let levels: Int
    }

    /// `Type.field`, in the order of the types.
    private(set) var paths: [String] = []
    private var defaults: [String: Default] = [:]

    private struct Default {
        let range: SourceRange
        /// Of lists and objects in the literal itself.
        var levels = 0
        var uses: [Use] = []
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
    func levels(of path: String) -> Int { defaults[path]?.levels ?? 0 }
    func uses(of path: String) -> [Use] {
        (defaults[path]?.uses ?? []).filter { defaults[$0.path] != nil }
    }

    /// Reads a literal in the order of the type's fields, the next part last.
    private static func read(
        _ value: ValueNode, of typeName: String, _ parts: SchemaParts
    ) -> Default {
        enum Part {
            case value(ValueNode, typeName: String, levels: Int)
            case used(Use)
        }
        var read = Default(range: value.range)
        var pending = [Part.value(value, typeName: typeName, levels: 0)]
        while let part = pending.popLast() {
            switch part {
            case .used(let use):
                read.uses.append(use)
            case .value(let value, let typeName, let around):
                let levels = around + 1
                switch value.kind {
                case .list(let items):
                    read.levels = max(read.levels, levels)
                    pending += items.map { .value($0, typeName: typeName, levels: levels) }
                        .reversed()
                case .object(let given):
                    read.levels = max(read.levels, levels)
                    let fields = parts[typeName]?.inputFields ?? []
                    pending +=
                        fields.map { field in
                            given.first { $0.name == field.name }.map {
                                .value($0.value, typeName: field.type.namedType, levels: levels)
                            } ?? .used(Use(path: "\(typeName).\(field.name.value)", levels: levels))
                        }.reversed()
                case .variable, .int, .float, .string, .boolean, .null, .enumeration:
                    break
                }
            }
        }
        return read
    }
}
