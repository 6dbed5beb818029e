/// A defect of the values that a loader or a batch has returned, or of the root that was passed to `execute`. The field gets an
/// error instead.
public struct LoaderDefect: Error, Sendable, Equatable, CustomStringConvertible {
    /// The field, such as `Book.author`.
    public let field: String
    /// A clause such as `returned 2 values for 3 objects`.
    public let problem: String
    /// The part of the program with the problem, such as `loader`.
    private let subject: String

    init(_ field: SelectedField, subject: String = "loader", _ problem: String) {
        self.field = "\(field.parentType.name).\(field.name)"
        self.problem = problem
        self.subject = subject
    }

    /// A complete sentence for the log, such as "The loader of Book.author returned 2 values for 3 objects."
    public var description: String { "The \(subject) of \(field) \(problem)." }
}

extension ExecutionContext {
    /// Returns an internal error, and does not record the defect.
    public func error(for defect: LoaderDefect) -> FieldError { .internalError }
}

extension FieldError {
    /// An error that does not tell clients what is wrong.
    public static let internalError = FieldError(
        "An internal error occurred.", kind: .internalError)
}

extension OperationPlan {
    /// Returns the error of a batch that cannot be the parent of the root fields, such as an event without an object; nil if it
    /// can.
    func error(of root: any ObjectBatch, in context: any ExecutionContext) -> GraphQLError? {
        // Without fields, nothing is written.
        guard let field = self.root.fields.first else { return nil }
        let isEvent = kind == .subscription
        let problem: String
        if root.count != 1 {
            problem =
                isEvent
                ? "returned a batch of \(root.count) objects as one event: return a batch of exactly one object for each event"
                : "is a batch of \(root.count) objects: pass a batch of exactly one object to execute, or no root"
        } else if let bound = root.boundSelection, bound !== self.root {
            problem =
                isEvent
                ? "returned a batch of another selection as an event: its boundSelection must be nil or the root of the plan"
                : "is a batch of another selection: its boundSelection must be nil or the root of the plan"
        } else {
            return nil
        }
        let defect = LoaderDefect(
            field.selected, subject: isEvent ? "event stream" : "root object", problem)
        return error(
            context.error(for: defect), of: field, at: [.key(field.selected.responseKey)])
    }
}

extension Children {
    /// Returns what is wrong with the values of a field; nil if they can be completed. A list refers to slots of the next
    /// depth, so the check ends even if a list refers to itself.
    ///
    /// - Parameter parents: The number of objects for which the loader was started.
    func defect(for field: PlannedField, parents: Int) -> LoaderDefect? {
        guard slots.count >= parents else {
            return LoaderDefect(
                field.selected, "returned \(slots.count) values for \(parents) objects")
        }
        let selections = field.selected.selections
        if !selections.isEmpty,
            let group = groups.first(where: { !selections.indices.contains($0.selection) })
        {
            return LoaderDefect(
                field.selected,
                "returned objects of the selection \(group.selection) of \(selections.count)")
        }
        // Such a batch would write fields of another selection, or none at all.
        let belongsElsewhere = groups.contains { group in
            guard let bound = group.batch.boundSelection else { return false }
            return selections.isEmpty || bound !== selections[group.selection]
        }
        if belongsElsewhere {
            return LoaderDefect(
                field.selected, "returned a batch that belongs to another selection")
        }
        return problem(
            in: 0..<parents, depth: 0, listDepth: field.completion.listDepth,
            isLeaf: selections.isEmpty
        ).map { LoaderDefect(field.selected, $0) }
    }

    private func problem(
        in range: Range<Int>, depth: Int, listDepth: Int, isLeaf: Bool
    ) -> String? {
        for slot in slots[range] {
            switch slot {
            case .null: break
            case .error(let index):
                guard errors.indices.contains(Int(index)) else {
                    return "returned the error \(index) of \(errors.count)"
                }
            case .object(let group, let index):
                // A batch can write a list of leaves as a whole.
                guard depth == listDepth || isLeaf else {
                    return "returned an object in place of a list"
                }
                guard groups.indices.contains(Int(group)), index >= 0,
                    index < groups[Int(group)].batch.count
                else {
                    return
                        "returned the object \(index) of the group \(group), which has no such object"
                }
            case .list(let start, let count):
                guard depth < listDepth else { return "returned a list in place of a value" }
                guard start >= 0, count >= 0, Int(start) + Int(count) <= slots.count else {
                    return
                        "returned a list of \(count) values from \(start) on, but only \(slots.count) values"
                }
                let items = Int(start)..<Int(start) + Int(count)
                if let problem = problem(
                    in: items, depth: depth + 1, listDepth: listDepth, isLeaf: isLeaf)
                {
                    return problem
                }
            }
        }
        return nil
    }
}
