/// What the validator says about a document, not what it finds.
public struct ValidationOptions: Sendable {
    /// Whether messages end in "Did you mean …?", which tells names of the schema to who guesses.
    public var hasSuggestions: Bool
    /// Errors after which validation stops; one more says so.
    public var errorsMax: Int

    public init(hasSuggestions: Bool = true, errorsMax: Int = 100) {
        self.hasSuggestions = hasSuggestions
        self.errorsMax = errorsMax
    }
}
