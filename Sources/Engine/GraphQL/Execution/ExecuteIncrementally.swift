/// Executes a plan with `@defer` or `@stream`, and delivers the response in several parts.
///
/// The first response has everything that is not deferred. Its `pending` announces the rest. The loads of the rest start
/// when the consumer asks for the second response, so a client that disconnects costs nothing more.
///
/// After 5,000 fragments, parts of objects, and lists, `@defer` and `@stream` are ignored: the rest is delivered with the object or
/// list that contains it.
///
/// - Parameters:
///   - plan: a plan that was made with `isIncremental`.
///   - variables: the coerced variables, which `CachedDocument.plan` returns with the plan.
///   - root: the parent of the root fields. If it is not one object, the response is an error.
///   - context: the state that the loads share.
///   - errorBehavior: what an execution error does to the rest of the response. `.halt` ends all parts that the client
///     waits for.
///   - errorsMax: the maximum number of execution errors in all responses together. Every failed fragment or list reports at
///     least one. If a part lacks further ones, its last error says how many, as in `execute`.
///   - responseBytesMax: the maximum size of all responses together. As soon as they are known to be larger, everything that
///     the client waits for fails with an error of the kind `responseTooLarge`. The response with these errors is not counted.
///   - format: the format of the responses.
/// - Returns: the first response, and a stream of the others if there are any.
///
/// Spec: https://github.com/graphql/graphql-spec/pull/1110
public func executeIncrementally(
    _ plan: OperationPlan, variables: VariableValues, root: any ObjectBatch = RootBatch(),
    context: any ExecutionContext, onError errorBehavior: ErrorBehavior = .propagate,
    errorsMax: Int = 100, responseBytesMax: Int = .max, format: IncrementalFormat = .draft
) async -> (first: ExecutionResult, rest: ResponseStream?) {
    if let error = plan.error(of: root, in: context) { return (.failed(error), nil) }
    let execution = Execution(
        plan: plan, variables: variables, context: context, onError: errorBehavior,
        responseBytesMax: responseBytesMax)
    await execution.run(root)
    if context.hasLoadedTooMuch {
        return (.tooLarge(bytesMax: responseBytesMax, plan.errorCodes), nil)
    }
    while true {
        var completion = ResponseCompletion(
            plan: plan, context: context, onError: errorBehavior, errorsMax: errorsMax,
            responseBytesMax: responseBytesMax)
        let recorder = DeferralRecorder()
        completion.deferral = recorder
        let result = await completion.complete(execution.frames)
        if completion.refusal != nil { return (result, nil) }
        // What is not deferred because of the limit may contain more of it, so this is repeated at most once per level.
        let fields = completion.isHalted ? [] : recorder.takeFieldsToLoad()
        if !fields.isEmpty {
            await execution.run(fields)
            if context.hasLoadedTooMuch {
                return (.tooLarge(bytesMax: responseBytesMax, plan.errorCodes), nil)
            }
            continue
        }
        if recorder.entries.isEmpty { return (result, nil) }
        execution.postponesCalls = true
        let delivery = IncrementalDelivery(
            execution, format: format, errorsMax: errorsMax, responseBytesMax: responseBytesMax)
        guard let first = delivery.start(result, recorder) else {
            return (.tooLarge(bytesMax: responseBytesMax, plan.errorCodes), nil)
        }
        return (first, ResponseStream { () throws(RequestErrors) in await delivery.next() })
    }
}
