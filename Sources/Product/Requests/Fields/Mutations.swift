import GraphQL
import GraphQLPostgres
import Postgres

/// A mutation that returns a row. The row is read in the mutation's own transaction.
package struct RowMutation: FieldLoader {
    package typealias Perform =
        @Sendable (ArgumentValues, RequestContext, RowsByID) async throws(BookplateError) ->
        Children

    let type: RowType
    /// The column that selects the row to return.
    let key: Column
    let perform: Perform

    package init(_ type: RowType, by key: Column? = nil, _ perform: @escaping Perform) {
        self.type = type
        self.key = key ?? type.id
        self.perform = perform
    }

    package func prepare(_ field: SelectedField) -> any PreparedLoad {
        let rows = RowsByID(type, field.selections[0], key: key)
        @Sendable func call(
            _ arguments: ArgumentValues, _ request: RequestContext
        ) async throws(BookplateError) -> Children {
            try await perform(arguments, request, rows)
        }
        return PreparedCall(call)
    }
}

/// A mutation that returns one plain object or a list of them, or a field of `Query` that runs its own statements.
package struct PlainMutation: FieldLoader {
    let shape: RowRelation.Shape
    /// Whether callers need not be signed in.
    let isPublic: Bool
    /// Whether the call may run at the same time as other fields. Only for fields of `Query`.
    let isConcurrent: Bool
    let perform:
        @Sendable (ArgumentValues, RequestContext) async throws(BookplateError) -> [PlainObject]

    package init(
        _ shape: RowRelation.Shape, isPublic: Bool = false, isConcurrent: Bool = false,
        _ perform:
            @escaping @Sendable (ArgumentValues, RequestContext) async throws(BookplateError)
            -> [PlainObject]
    ) {
        self.shape = shape
        self.isPublic = isPublic
        self.isConcurrent = isConcurrent
        self.perform = perform
    }

    package func prepare(_ field: SelectedField) -> any PreparedLoad {
        let selection = field.selections[0]
        @Sendable func call(
            _ arguments: ArgumentValues, _ request: RequestContext
        ) async throws(BookplateError) -> Children {
            let objects = try await perform(arguments, request)
            let batch = PlainBatch(objects, selection)
            switch shape {
            case .one:
                let slots: [Slot] = objects.isEmpty ? [] : [.object(group: 0, index: 0)]
                return Children(slots: slots, groups: [.init(batch)])
            case .many:
                return .list(of: batch)
            }
        }
        return PreparedCall(isPublic: isPublic, isConcurrent: isConcurrent, call)
    }
}

/// A prepared mutation, or a field of `Query` that runs its own statements. Its only parent is the root object.
package struct PreparedCall: RequestLoad {
    private let isPublic: Bool
    private let isConcurrent: Bool
    private let perform:
        @Sendable (ArgumentValues, RequestContext) async throws(BookplateError) -> Children

    /// - Parameters:
    ///   - isPublic: Whether callers need not be signed in. Otherwise this is checked before the input is validated.
    ///   - isConcurrent: Whether the call may run at the same time as other fields. Only for fields of `Query`.
    package init(
        isPublic: Bool = false, isConcurrent: Bool = false,
        _ perform:
            @escaping @Sendable (ArgumentValues, RequestContext) async throws(BookplateError)
            -> Children
    ) {
        self.isPublic = isPublic
        self.isConcurrent = isConcurrent
        self.perform = perform
    }

    package func start(
        for parents: any ObjectBatch, arguments: ArgumentValues, in request: RequestContext
    ) throws(BookplateError) -> Load {
        if !isPublic { _ = try request.caller() }
        if isConcurrent {
            return request.concurrentLoad { () throws(BookplateError) in
                try await perform(arguments, request)
            }
        }
        return .call {
            do throws(BookplateError) {
                return try await perform(arguments, request)
            } catch {
                return .failed(parents.count, request.fieldError(error))
            }
        }
    }
}
