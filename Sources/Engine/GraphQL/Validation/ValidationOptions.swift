/// Options for the errors that validation returns.
public struct ValidationOptions: Sendable {
    /// Whether messages end in "Did you mean …?", which reveals names of the schema.
    public var hasSuggestions: Bool
    /// The number of errors after which validation stops. One more error then reports that the
    /// limit was reached.
    public var errorsMax: Int
    /// A sentence that ends the error for `__schema` and `__type`, which are then refused; nil allows them.
    public var introspectionDisabledReason: String?

    /// Creates options. By default, introspection is allowed.
    public init(
        hasSuggestions: Bool = true, errorsMax: Int = 100,
        introspectionDisabledReason: String? = nil
    ) {
        self.hasSuggestions = hasSuggestions
        self.errorsMax = errorsMax
        self.introspectionDisabledReason = introspectionDisabledReason
    }
}
