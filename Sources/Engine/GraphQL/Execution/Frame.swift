/// The objects of one planned selection, with the results of their loaded fields.
final class Frame {
    let selection: PlannedSelection
    let batch: any ObjectBatch
    /// Indexed by position in the selection. Nil for leaves, which the batch writes itself.
    var loaded: [LoadedField?]
    /// Whether the loads of the fields have not been started, because the objects are items of a list of which the
    /// initial response contains none.
    var isPostponed = false
    /// The positions of the deferred fields whose loads have been started.
    var startedFields: Set<Int> = []

    init(_ selection: PlannedSelection, _ batch: any ObjectBatch) {
        self.selection = selection
        self.batch = batch
        loaded = Array(repeating: nil, count: selection.fields.count)
    }
}

/// A field whose load has not ended.
struct MissingField {
    let frame: Frame
    let position: Int

    var isLoaded: Bool { frame.loaded[position] != nil }
}

/// The result of a loaded field: its slots, and a frame or a batch of leaves for each group that
/// they refer to. A class, because the completion of the response copies it often.
final class LoadedField {
    let slots: [Slot]
    let errors: [FieldError]
    let groups: [Group]
    /// The number of items in the initial response, if the field is a list with `@stream`.
    let initialCount: Int?

    enum Group {
        case objects(Frame)
        case leaves(any ObjectBatch)
    }

    init(slots: [Slot], errors: [FieldError], groups: [Group], initialCount: Int?) {
        self.slots = slots
        self.errors = errors
        self.groups = groups
        self.initialCount = initialCount
    }
}
