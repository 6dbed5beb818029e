/// Runs an operation and converts the error that it throws.
///
/// ```swift
/// try mappingError(JobError.database) { try connection.query(sql) }
/// ```
package func mappingError<Value, From: Error, To: Error>(
    _ convert: (From) -> To, _ operation: () throws(From) -> Value
) throws(To) -> Value {
    do throws(From) {
        return try operation()
    } catch {
        throw convert(error)
    }
}

/// Runs an asynchronous operation on the caller's executor and converts the error that it throws.
package func mappingError<Value, From: Error, To: Error>(
    _ convert: (From) -> To, _ operation: () async throws(From) -> Value
) async throws(To) -> Value {
    do throws(From) {
        return try await operation()
    } catch {
        throw convert(error)
    }
}
