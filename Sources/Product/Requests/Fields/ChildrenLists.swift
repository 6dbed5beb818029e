import GraphQL

extension Children {
    /// Returns the list of all objects of `batch`, for a field with one parent.
    package static func list(of batch: any ObjectBatch) -> Children {
        let items = (0..<Int32(batch.count)).map { Slot.object(group: 0, index: $0) }
        // The parent's slot is first, so the items start at index 1.
        return Children(
            slots: [.list(start: 1, count: Int32(items.count))] + items, groups: [.init(batch)])
    }
}
