// Reproduces a miscompilation of Swift 6.3.1 with -O; see docs/decisions/task-group-tuples.md.
//
//   swiftc -O -swift-version 6 -parse-as-library Tests/CompilerBugs/task-group-tuples.swift -o /tmp/tuples && /tmp/tuples
//
// Prints one line for each shape and exits with 1 while the compiler has the bug, 0 when it is fixed. `scripts/check compiler`
// runs it.

import Glibc

struct Failure: Error {
    var reason: String
}

typealias Load = @Sendable (Int) async throws(Failure) -> [String]

/// The shape that fails: a tuple literal with the result of an `await` in its second element.
func tupleInOneExpression(_ load: @escaping Load) async -> [Int] {
    await withTaskGroup(of: (Int, Result<[String], any Error>).self) { group in
        for index in 1...4 {
            group.addTask {
                do {
                    return (index, .success(try await load(index)))
                } catch {
                    return (index, .failure(error))
                }
            }
        }
        var indices: [Int] = []
        for await (index, _) in group { indices.append(index) }
        return indices.sorted()
    }
}

/// The same shape with a typed error. The server once contained this code.
func tupleInOneExpressionWithTypedError(
    _ load: @escaping @Sendable (String) async throws(Failure) -> [String]
) async -> [Int] {
    await withTaskGroup(of: (Int, Result<[String], Failure>).self) { group in
        for (index, name) in ["a", "b", "c", "d"].enumerated() {
            group.addTask {
                do throws(Failure) {
                    return (index, .success(try await load(name)))
                } catch {
                    return (index, .failure(error))
                }
            }
        }
        var indices: [Int] = []
        for await (index, _) in group { indices.append(index) }
        return indices.sorted().map { $0 + 1 }
    }
}

/// The same shape in an unstructured task.
func tupleOfATask(_ load: @escaping Load) async -> [Int] {
    let tasks = (1...4).map { index in
        Task { () -> (Int, Result<[String], Failure>) in
            do throws(Failure) {
                return (index, .success(try await load(index)))
            } catch {
                return (index, .failure(error))
            }
        }
    }
    var indices: [Int] = []
    for task in tasks { indices.append(await task.value.0) }
    return indices.sorted()
}

/// The workaround: the result of `await` is assigned to a variable before the tuple is created.
func tupleOfAVariable(_ load: @escaping Load) async -> [Int] {
    await withTaskGroup(of: (Int, Result<[String], Failure>).self) { group in
        for index in 1...4 {
            group.addTask {
                let result: Result<[String], Failure>
                do throws(Failure) {
                    result = .success(try await load(index))
                } catch {
                    result = .failure(error)
                }
                return (index, result)
            }
        }
        var indices: [Int] = []
        for await (index, _) in group { indices.append(index) }
        return indices.sorted()
    }
}

@main struct Main {
    static func main() async {
        let load: Load = { index in
            await Task.yield()
            return ["\(index)"]
        }
        let results = [
            ("tuple in one expression", await tupleInOneExpression(load)),
            (
                "tuple in one expression, typed error",
                await tupleInOneExpressionWithTypedError { name in
                    await Task.yield()
                    return [name]
                }
            ),
            ("tuple of an unstructured task", await tupleOfATask(load)),
            ("tuple of a variable (the workaround)", await tupleOfAVariable(load)),
        ]
        for (shape, indices) in results {
            print(indices == [1, 2, 3, 4] ? "correct " : "WRONG   ", shape, indices)
        }
        let isFixed = results.allSatisfy { $0.1 == [1, 2, 3, 4] }
        print(
            isFixed
                ? "This compiler is correct: the workarounds that refer to this file can be removed."
                : "This compiler has the bug.")
        exit(isFixed ? 0 : 1)
    }
}
