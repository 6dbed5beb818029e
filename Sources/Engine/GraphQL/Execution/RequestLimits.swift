/// Limits on the work for one request and on the size of the document cache.
public struct RequestLimits: Sendable {
    /// Limits on the text of a document.
    public var parsing = ParseLimits()
    /// Options for validation and its errors.
    public var validation = ValidationOptions()
    /// Limits on what an operation selects.
    public var operation = OperationLimits()
    /// The maximum number of variable errors, and of execution errors, in one response.
    public var errorsMax = 100
    /// The maximum size of one response, in bytes.
    public var responseBytesMax = 8 << 20
    /// The maximum number of fields in a plan. A field of an abstract type is counted once for each
    /// possible type.
    public var plannedFieldsMax = 5_000
    /// The maximum number of deferred fragments in a plan. A fragment on an abstract type is counted
    /// once for each possible type.
    public var deferredFragmentsMax = 200
    /// The maximum number of cached plans of one document. There is one for each combination of its
    /// `@skip`, `@include`, `@defer`, and `@stream` variables.
    public var plansPerDocumentMax = 32
    /// The maximum number of documents in the cache.
    public var cachedDocumentsMax = 1_000
    /// The maximum memory of all cached documents with their plans, in bytes. It is estimated: the
    /// cache may take half or twice of it.
    public var cachedBytesMax = 32 << 20

    /// Creates the default limits.
    public init() {}

    /// Limits for trusted documents. Nesting and the size of the cache are still limited.
    public static let trusted: RequestLimits = {
        var limits = RequestLimits()
        limits.parsing = .trusted
        limits.operation = .trusted
        limits.plannedFieldsMax = 1_000_000
        limits.deferredFragmentsMax = 10_000
        limits.responseBytesMax = .max
        return limits
    }()
}
