import Dispatch

/// Runs blocking file operations off the event loops.
struct FileThreads: Sendable {
    static let shared = FileThreads()

    private let queue = DispatchQueue(label: "bookplate.files", attributes: .concurrent)

    func run<Value: Sendable>(
        _ work: @Sendable @escaping () throws(ObjectError) -> Value
    ) async throws(ObjectError) -> Value {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Value, ObjectError>, Never>) in
            queue.async {
                continuation.resume(
                    returning: Result { () throws(ObjectError) in try work() })
            }
        }
        return try result.get()
    }
}
