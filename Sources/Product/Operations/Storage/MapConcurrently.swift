import Bookplate

/// Transforms all elements concurrently. The results are in the order of the elements.
func mapConcurrently<Element: Sendable, Value: Sendable>(
    _ elements: [Element],
    _ transform: @Sendable @escaping (Element) async throws(StorageError) -> Value
) async throws(StorageError) -> [Value] {
    let results = await withTaskGroup(of: (Int, Result<Value, StorageError>).self) { group in
        for (index, element) in elements.enumerated() {
            group.addTask {
                // A variable, because of a compiler bug: docs/decisions/task-group-tuples.md.
                let result: Result<Value, StorageError>
                do throws(StorageError) {
                    result = .success(try await transform(element))
                } catch {
                    result = .failure(error)
                }
                return (index, result)
            }
        }
        var results: [(Int, Result<Value, StorageError>)] = []
        for await result in group { results.append(result) }
        return results.sorted { $0.0 < $1.0 }
    }
    var values: [Value] = []
    for (_, result) in results { values.append(try result.get()) }
    return values
}
