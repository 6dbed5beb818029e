/// Two fields with the same response key that cannot be merged.
struct FieldConflict {
    let responseKey: String
    /// The reason, as the clause that follows "because" in the error message.
    let reason: String
    let left: [SourceRange]
    let right: [SourceRange]
}
