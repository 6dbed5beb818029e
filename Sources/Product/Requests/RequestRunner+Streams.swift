import GraphQL
import GraphQLServing
import Identity
import NIOCore

/// Executes operations with more than one response.
extension RequestRunner {
    /// Executes a subscription.
    func subscribe(
        _ planned: Planned, _ request: GraphQLRequest, _ caller: Caller
    ) async throws(DocumentTexts.Refusal) -> ResponseStream {
        let context = RequestContext(
            viewer: caller.viewer, database: database, environment: environment, product: product,
            requestID: request.requestID, charges: caller.charges, rowBytesMax: limits.rowBytesMax,
            hasTimedOut: request.hasTimedOut)
        countUsage(planned, request, caller)
        do throws(RequestErrors) {
            return counted(
                try await GraphQL.subscribe(
                    planned.plan, variables: planned.variables, context: context,
                    onError: planned.errorBehavior,
                    errorsMax: limits.errorsMax, responseBytesMax: limits.responseBytesMax,
                    eventContext: { context.makeEventContext() }))
        } catch {
            throw .request(error)
        }
    }

    /// Returns the same responses, and counts their errors.
    private func counted(_ responses: ResponseStream) -> ResponseStream {
        ResponseStream { () throws(RequestErrors) in
            do throws(RequestErrors) {
                let response = try await responses.next()
                self.telemetry.count(response?.errors.compactMap(\.code) ?? [])
                return response
            } catch {
                self.telemetry.count(error.errors.compactMap(\.code))
                throw error
            }
        }
    }

    /// Executes an operation with `@defer` or `@stream`. It is measured when the last part of its response is complete.
    func runIncrementally(
        _ planned: Planned, _ request: GraphQLRequest, _ caller: Caller
    ) async -> GraphQLOperation {
        let context = makeContext(planned, request, caller)
        countUsage(planned, request, caller)
        let executionStart = ContinuousClock.now
        let (first, rest) = await GraphQL.executeIncrementally(
            planned.plan, variables: planned.variables, context: context,
            onError: planned.errorBehavior,
            errorsMax: limits.errorsMax, responseBytesMax: limits.responseBytesMax,
            format: request.incrementalFormat ?? .draft)
        let parts = ResponseParts(first) { errorCodes, isAbandoned in
            self.telemetry.finished(
                OperationTelemetry.Finished(
                    request, text: planned.text.bytes, planned.plan,
                    planningStart: planned.start, executionStart: executionStart,
                    errorCodes: errorCodes, context.statistics),
                isAbandoned: isAbandoned && !request.hasTimedOut())
        }
        var response = GraphQLResponse(
            body: first.body,
            refusal: rest == nil ? GraphQLResponse.Refusal(first.errors) : nil)
        response.errorCodes = first.errors.compactMap(\.code)
        let retained = NIOLoopBound(context, eventLoop: database.executor.eventLoop)
        response.retainedByteCount = { retained.value.loadedByteCount }
        guard let rest else {
            parts.end(isAbandoned: Task.isCancelled)
            return .response(response)
        }
        return .incremental(response, rest: parts.counting(rest))
    }
}
