#if canImport(Observation)
    import GRDB
    import Observation

    /// The latest value of a list, for a view of SwiftUI: it shows `value`, and runs `follow` in its `task` modifier.
    @MainActor @Observable public final class Observed<Value: Sendable> {
        /// The latest value. Nil until the first one has been read.
        public private(set) var value: Value?
        /// Why the list cannot be read, for example because the file of the library is damaged.
        public private(set) var error: (any Error)?
        @ObservationIgnored private let values: AsyncValueObservation<Value>

        /// Creates an object for a list, such as `library.books.all(status: .reading)`.
        public init(_ values: AsyncValueObservation<Value>) { self.values = values }

        /// Keeps `value` current until the task is cancelled.
        public func follow() async {
            do {
                for try await value in values { self.value = value }
            } catch {
                self.error = error
            }
        }
    }
#endif
