import GraphQL

/// A prepared load that runs in a `RequestContext` and throws `BookplateError`.
package protocol RequestLoad: PreparedLoad {
    func start(
        for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
    ) throws(BookplateError) -> Load
}

extension RequestLoad {
    package func start(
        for parents: any ObjectBatch, arguments: ArgumentValues, in context: any ExecutionContext
    ) -> Load {
        guard let request = context as? RequestContext else {
            // The server executes its schema with no other context.
            preconditionFailure(
                "A RequestLoad needs a RequestContext, but got \(type(of: context)).")
        }
        do throws(BookplateError) {
            return try start(for: parents, arguments: arguments, in: request)
        } catch {
            return .ready(.failed(parents.count, request.fieldError(error)))
        }
    }
}
