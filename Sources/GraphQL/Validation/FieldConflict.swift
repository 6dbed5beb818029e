/// Two fields of one response key, and why they cannot both be there.
struct FieldConflict {
    let responseKey: String
    /// As it reads behind "because".
    let reason: String
    let left: [SourceRange]
    let right: [SourceRange]
}
