/// The errors of the values that are written.
extension ResponseCompletion {
    /// Reports why a leaf has no value, if that is an error.
    mutating func reportLeaf(_ result: LeafResult, _ field: PlannedField) {
        path.append(.key(field.selected.responseKey))
        report(result, field, depth: 0)
        path.removeLast()
    }

    mutating func report(_ result: LeafResult, _ field: PlannedField, depth: Int) {
        switch result {
        case .value:
            let defect = LoaderDefect(
                field.selected, "returned a batch that wrote nothing for a value")
            report(context.error(for: defect), field)
        case .null: reportNull(field, depth: depth)
        case .error(let error): report(error, field)
        }
    }

    /// Reports a null for which there is no other error, if it is one.
    mutating func reportNull(_ field: PlannedField, depth: Int) {
        let kind: String
        if field.completion.isNonNull(at: depth) {
            kind = "non-nullable"
        } else if field.completion.isSemanticallyNonNull(at: depth) {
            kind = "semantically non-nullable"
        } else {
            return
        }
        report(
            FieldError(
                "Cannot return null for \(kind) field "
                    + "\(field.selected.parentType.name).\(field.selected.name)."),
            field)
    }

    mutating func report(_ error: FieldError, _ field: PlannedField) {
        if isHalted { return }
        guard errors.count < errorsLeft else {
            omittedErrorCount += 1
            // A client that requested `null` recognizes a value that has failed only by its error.
            if errorBehavior == .null { refuse(.tooManyErrors(max: errorsMax)) }
            return
        }
        errors.append(plan.error(error, of: field, at: path))
        halt()
    }

    /// Returns the error that says how many errors were left out, in a list; an empty list if there is none.
    func omitted(_ count: Int) -> [GraphQLError] {
        if count == 0 { return [] }
        return [GraphQLError.omittedErrors(count, max: errorsMax).coded(by: plan.errorCodes)]
    }
}
