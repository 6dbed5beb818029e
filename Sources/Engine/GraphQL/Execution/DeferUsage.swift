/// A fragment with an active `@defer` in a planned selection.
///
/// It is part of the plan. Execution creates one `DeferredFragment` for each object of the selection.
final class DeferUsage: Sendable, Equatable {
    /// Unique in the plan.
    let id: Int
    let label: String?
    /// The offset of the directive in the document.
    let start: Int32
    /// The innermost `@defer` around the fragment.
    let parent: DeferUsage?

    init(id: Int, label: String?, start: Int32, parent: DeferUsage?) {
        self.id = id
        self.label = label
        self.start = start
        self.parent = parent
    }

    static func == (left: DeferUsage, right: DeferUsage) -> Bool { left === right }

    /// Returns the usages of `@defer` that deliver a field, ordered by id; empty if the field is not
    /// deferred.
    ///
    /// A field that is also selected outside of `@defer` is not deferred. A field that is selected
    /// in a fragment and in a fragment nested in it belongs to the outer one, which is delivered
    /// first. A field that is selected in two independent fragments belongs to both, and is
    /// delivered once, with the first of them.
    ///
    /// This is `GetFilteredDeferUsageSet` of graphql-js 17.
    static func owners(of group: FieldCollector.Group) -> [DeferUsage] {
        guard let first = group.first.deferUsage else { return [] }
        if group.others.isEmpty { return [first] }
        var found = [first.id: first]
        for occurrence in group.others {
            guard let usage = occurrence.deferUsage else { return [] }
            found[usage.id] = usage
        }
        return found.values
            .filter { usage in
                var outer = usage.parent
                while let current = outer {
                    if found[current.id] != nil { return false }
                    outer = current.parent
                }
                return true
            }
            .sorted { $0.id < $1.id }
    }
}

/// Fields of a selection that are delivered together, later than their object.
struct DeferredPart: Sendable {
    /// The usages of `@defer` that contain the fields, ordered by id. The part is delivered with the
    /// first of their fragments that is complete.
    let owners: [DeferUsage]
    let outputs: [FieldOutput]
    /// The positions of the loaded fields.
    let loaded: [Int]
}

/// An active `@stream` of a list field.
struct StreamUsage: Sendable {
    enum InitialCount: Sendable {
        case constant(Int)
        case variable(String)
    }

    let label: String?
    let initialCount: InitialCount

    /// Returns the number of items that the response starts with.
    ///
    /// - Throws: an error if the number is negative or null.
    func initialCount(_ variables: VariableValues) throws(FieldError) -> Int {
        let count: Int? =
            switch initialCount {
            case .constant(let count): count
            case .variable(let name):
                // An absent variable leaves the default value of the argument, which is 0.
                if let value = variables[name] { value.int } else { 0 }
            }
        guard let count, count >= 0 else {
            throw FieldError(
                "initialCount must be a positive integer or 0.", kind: .invalidInput)
        }
        return count
    }
}

extension Directive {
    /// The value of the argument `label`, which is a string.
    var label: String? {
        let value = arguments.first { $0.name.value == "label" }?.value
        return if case .string(let string)? = value?.kind { string.value } else { nil }
    }
}
