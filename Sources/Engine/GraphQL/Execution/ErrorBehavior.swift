/// The effect of an execution error on the rest of the response: the request parameter `onError`.
///
/// Spec: https://github.com/graphql/graphql-spec/pull/1236
public enum ErrorBehavior: String, Sendable, CaseIterable {
    /// If a value must not be null, but is, the object or list around it is null instead, up to the nearest nullable one.
    case propagate = "PROPAGATE"
    /// Only the value itself is null, even if its type is non-nullable.
    case null = "NULL"
    /// The first error ends the execution. `data` is null, and there are no other errors.
    case halt = "HALT"
}
