/// A part of the response that the client waits for: a deferred fragment of one object, or a streamed list.
///
/// The client learns of it as `pending`, with an id and the path, then gets its data as `incremental`, and at last its end
/// as `completed`.
class Delivery {
    let label: String?
    let path: [GraphQLError.PathElement]
    /// The number that identifies it in the responses; nil as long as the client does not know of it.
    var id: Int?
    /// Whether it has been completed, or has nothing to deliver.
    var isDone = false

    init(label: String?, path: [GraphQLError.PathElement]) {
        self.label = label
        self.path = path
    }

    /// Whether the client waits for it.
    var isPending: Bool { id != nil && !isDone }
}

/// A fragment with `@defer` of one object.
final class DeferredFragment: Delivery {
    /// The fragment around it, which the client gets first.
    let parent: DeferredFragment?
    /// Whether it belongs to the `DeliveryForest`.
    var isAttached = false
    var hasFailed = false
    /// The number of its parts that have not been written.
    var openPartCount = 0
    /// Its parts that have been found.
    var parts: [DeferredObjectPart] = []
    /// The fragments in it, which become pending when it is complete.
    var children: [DeferredFragment] = []

    init(label: String?, path: [GraphQLError.PathElement], parent: DeferredFragment?) {
        self.parent = parent
        super.init(label: label, path: path)
    }

    /// Whether the client never gets the fragment, because it or a fragment around it has failed.
    var isDropped: Bool { hasFailed || parent?.isDropped == true }

    /// Drops the references to parts and children, which refer to the fragment.
    func releaseContents() {
        parts = []
        children = []
    }
}

/// A deferred part of one object: fields that are written together, for the same fragments.
final class DeferredObjectPart {
    let part: DeferredPart
    let frame: Frame
    let object: Int
    let path: [GraphQLError.PathElement]
    let scope: DeferScope?
    var fragments: [DeferredFragment]
    /// The field for which writing it has to wait.
    var missing: MissingField?
    var isWritten = false
    var isDelivered = false
    /// The written object and its errors, until they are delivered.
    var data: [UInt8] = []
    var errors: [GraphQLError] = []
    /// The deliveries that become pending when this part is delivered: lists, and fragments without a parent.
    var children: [Delivery] = []

    init(
        _ part: DeferredPart, of object: Int, _ frame: Frame, at path: [GraphQLError.PathElement],
        scope: DeferScope?
    ) {
        self.part = part
        self.frame = frame
        self.object = object
        self.path = path
        self.scope = scope
        fragments = part.owners.compactMap { scope?.fragment(of: $0) }
    }

    /// Whether the client waits for one of its fragments.
    var isPending: Bool { fragments.contains(where: \.isPending) }

    /// Drops what has been delivered.
    func releaseContents() {
        data = []
        errors = []
        children = []
    }
}

/// The rest of a list with `@stream`.
final class ListStream: Delivery {
    let field: PlannedField
    let loaded: LoadedField
    /// The index of the list's first slot.
    let start: Int
    let count: Int
    /// The index of the next item to deliver.
    var next: Int
    /// The field for which writing the next items has to wait.
    var missing: MissingField?

    init(
        _ field: PlannedField, _ loaded: LoadedField, start: Int, count: Int, from next: Int,
        at path: [GraphQLError.PathElement]
    ) {
        self.field = field
        self.loaded = loaded
        self.start = start
        self.count = count
        self.next = next
        super.init(label: field.stream?.label, path: path)
    }
}

/// The deferred fragments of one object and of the objects around it, by their usage in the plan.
final class DeferScope {
    private let outer: DeferScope?
    private var fragments: [Int: DeferredFragment] = [:]

    init(in outer: DeferScope?, _ usages: [DeferUsage], at path: [GraphQLError.PathElement]) {
        self.outer = outer
        // A usage comes after the one around it.
        for usage in usages {
            fragments[usage.id] = DeferredFragment(
                label: usage.label, path: path,
                parent: usage.parent.flatMap { fragment(of: $0) })
        }
    }

    func fragment(of usage: DeferUsage) -> DeferredFragment? {
        var scope: DeferScope? = self
        while let current = scope {
            if let found = current.fragments[usage.id] { return found }
            scope = current.outer
        }
        return nil
    }
}

/// Collects what is delivered later while values are written.
final class DeferralRecorder {
    enum Entry {
        case part(DeferredObjectPart)
        case list(ListStream)
    }

    /// The deferred parts and lists, each with the offset in the buffer of the value that contains it.
    private var found: [(offset: Int, entry: Entry)] = []
    /// The scopes of the objects that are being written, with the number of containers around each. Scopes of finished
    /// objects stay until the next object at the same depth. They do no harm: their usages of `@defer` cannot occur in
    /// other objects.
    private var scopes: [(depth: Int, scope: DeferScope)] = []
    private let base: DeferScope?
    /// The number of fragments, parts of objects, and lists that were found, including those that were discarded or are not
    /// deferred.
    private(set) var count = 0
    private let countMax: Int
    /// The frames with objects whose deferred parts, or that themselves as items of a list, are not delivered later.
    private var undeferred: [Frame] = []
    private var undeferredIDs: Set<ObjectIdentifier> = []

    /// The maximum number of fragments, parts of objects, and lists that one operation defers. A fragment is counted for each
    /// object.
    static let operationCountMax = 5_000

    /// - Parameters:
    ///   - base: The scope of the object to which the written values belong.
    ///   - countMax: The maximum of `count`. `@defer` and `@stream` are ignored beyond it, so nothing is recorded.
    init(in base: DeferScope? = nil, countMax: Int = DeferralRecorder.operationCountMax) {
        self.base = base
        self.countMax = countMax
    }

    var entries: [Entry] { found.map(\.entry) }

    /// Returns the fields that must be loaded because `@defer` and `@stream` are ignored beyond the limit, except those whose
    /// loads have been started. The caller starts them.
    func takeFieldsToLoad() -> [(frame: Frame, field: Int)] {
        var fields: [(frame: Frame, field: Int)] = []
        for frame in undeferred {
            if frame.isPostponed {
                frame.isPostponed = false
                fields += frame.selection.loaded.map { (frame, $0) }
            }
            for field in frame.selection.whole.loaded
            where frame.startedFields.insert(field).inserted {
                fields.append((frame, field))
            }
        }
        undeferred = []
        undeferredIDs = []
        return fields
    }

    private func ignoreDeferral(in frame: Frame) {
        if undeferredIDs.insert(ObjectIdentifier(frame)).inserted { undeferred.append(frame) }
    }

    /// Records the deferred parts of an object.
    ///
    /// - Parameter depth: The number of containers around the object.
    /// - Returns: false if there are too many, so that the parts must be written with the object.
    func record(
        _ object: Int, of frame: Frame, at path: [GraphQLError.PathElement], _ offset: Int,
        depth: Int
    ) -> Bool {
        count += frame.selection.newDeferUsages.count + frame.selection.deferredParts.count
        if count > countMax {
            ignoreDeferral(in: frame)
            return false
        }
        while let last = scopes.last, last.depth >= depth { scopes.removeLast() }
        var scope = scopes.last?.scope ?? base
        let usages = frame.selection.newDeferUsages
        if !usages.isEmpty {
            let inner = DeferScope(in: scope, usages, at: path)
            scopes.append((depth, inner))
            scope = inner
        }
        for part in frame.selection.deferredParts {
            let part = DeferredObjectPart(part, of: object, frame, at: path, scope: scope)
            found.append((offset, .part(part)))
        }
        return true
    }

    /// Records the rest of a list.
    ///
    /// - Returns: false if there are too many, so that the whole list must be written.
    func record(_ list: ListStream, _ offset: Int) -> Bool {
        count += 1
        if count > countMax {
            for case .objects(let frame) in list.loaded.groups where frame.isPostponed {
                ignoreDeferral(in: frame)
            }
            return false
        }
        found.append((offset, .list(list)))
        return true
    }

    /// Forgets what was found in values that were discarded: those that start at or after an offset.
    func rewind(to offset: Int) {
        while let last = found.last, last.offset >= offset { found.removeLast() }
    }
}
