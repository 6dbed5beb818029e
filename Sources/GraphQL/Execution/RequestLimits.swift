/// What one request may cost the engine, and what the engine keeps for the next.
public struct RequestLimits: Sendable {
    public var parsing = ParseLimits()
    public var validation = ValidationOptions()
    public var operation = OperationLimits()
    /// Errors of variables, and of execution, that one response reports.
    public var errorsMax = 100
    /// Bytes of one response.
    public var responseBytesMax = 8 << 20
    /// Planned fields, each type of an abstract place counted.
    public var plannedFieldsMax = 10_000
    /// Plans of one document: one for each combination of its `@skip` and `@include` variables.
    public var plansPerDocumentMax = 32
    public var cachedDocumentsMax = 1_000
    /// Bytes of source text of all cached documents.
    public var cachedSourceBytesMax = 8 << 20

    public init() {}

    /// For documents of one's own; the nesting that the parser takes and the size of the caches stay bounded.
    public static let trusted: RequestLimits = {
        var limits = RequestLimits()
        limits.parsing = .trusted
        limits.operation = .trusted
        limits.plannedFieldsMax = 1_000_000
        limits.responseBytesMax = .max
        return limits
    }()
}
