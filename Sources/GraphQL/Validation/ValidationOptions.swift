/// How strict the validator is and what its messages may reveal.
public struct ValidationOptions: Sendable {
    /// Whether messages end in "Did you mean …?", which reveals names of the schema.
    public var hasSuggestions: Bool
    /// Validation stops after this many errors; one more error says so.
    public var errorsMax: Int
    /// A sentence that ends the error for `__schema` and `__type`, which are then refused; nil allows them.
    public var introspectionDisabledReason: String?

    public init(
        hasSuggestions: Bool = true, errorsMax: Int = 100,
        introspectionDisabledReason: String? = nil
    ) {
        self.hasSuggestions = hasSuggestions
        self.errorsMax = errorsMax
        self.introspectionDisabledReason = introspectionDisabledReason
    }
}
