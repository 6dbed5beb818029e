/// The deferred fragments and streamed lists of one response: which of them the client waits for, and what is delivered
/// with which.
///
/// **State.** Fragments form a forest: a fragment with `@defer` inside of another one is its child. Fields that belong to the
/// same fragments form a part of their object (`DeferredObjectPart`). A fragment counts its parts that have not been
/// written. Writing a part can find more parts of the same fragments in nested objects, nested fragments, and lists.
///
/// **Rules.** They are those of graphql-js 17:
///
/// 1. A fragment in another one becomes pending as soon as the outer one is complete. Any other fragment, and each list,
///    becomes pending when the client gets the object that contains it: in the first response, with a part, or with the
///    items of a list.
/// 2. A fragment is complete when it is pending and all its parts are written. Its parts are delivered then, unless they were
///    delivered with another fragment. A fragment without undelivered parts is not announced; its children are instead.
/// 3. If a fragment fails, its children are not delivered. Parts that also belong to other fragments are delivered with those.
///
/// The items of a streamed list are delivered as if there were no fragment around the list, so a fragment in an item is never
/// a child of a fragment outside of the list.
///
/// **Invariant.** The client knows the path of everything that is pending. The path of a child is known because the fragment
/// around it selects each field of that path, and delivers it at the latest.
///
/// **Example.** `{ book { title ... @defer { reviews { text } summary } ... @defer { summary } } }` has two parts: `reviews`
/// of the first fragment, and `summary` of both. The second fragment is complete as soon as `summary` is written, which is
/// delivered with it, and the first one then delivers only `reviews`.
final class DeliveryForest {
    /// The parts that have not been written, and some that are removed by the next `pendingParts`.
    private var openParts: [DeferredObjectPart] = []
    /// The lists that are pending, and some that are removed by the next `pendingLists`.
    private var lists: [ListStream] = []
    /// All fragments, for `deinit`.
    private var fragments: [DeferredFragment] = []
    /// The number of fragments and lists that were announced, which is the id of the next one.
    private(set) var announcedCount = 0
    /// The number of fragments and lists that the client waits for.
    private(set) var pendingCount = 0

    deinit {
        // Fragments refer to their parts and children, and are referred to by them.
        for fragment in fragments { fragment.releaseContents() }
    }

    /// Returns the parts that have not been written and belong to a pending fragment.
    func pendingParts() -> [DeferredObjectPart] {
        openParts.removeAll { $0.isWritten || $0.fragments.allSatisfy(\.isDropped) }
        return openParts.filter(\.isPending)
    }

    /// Returns the lists that the client waits for.
    func pendingLists() -> [ListStream] {
        lists.removeAll(where: \.isDone)
        return lists
    }

    // MARK: - Adding

    /// Adds what was found in values that the client has or gets with `payload`.
    func add(_ found: [DeferralRecorder.Entry], _ payload: inout IncrementalPayload) {
        var roots: [Delivery] = []
        add(found, &roots)
        announce(roots, &payload)
    }

    /// Adds what was found in an object or in items. Lists, and new fragments without a parent, are appended to `roots`.
    private func add(_ found: [DeferralRecorder.Entry], _ roots: inout [Delivery]) {
        for entry in found {
            switch entry {
            case .list(let list): roots.append(list)
            case .part(let part): add(part, &roots)
            }
        }
    }

    private func add(_ part: DeferredObjectPart, _ roots: inout [Delivery]) {
        part.fragments.removeAll(where: \.isDropped)
        if part.fragments.isEmpty { return }
        openParts.append(part)
        for fragment in part.fragments {
            fragment.parts.append(part)
            fragment.openPartCount += 1
            attach(fragment, &roots)
        }
    }

    /// Makes a new fragment and the new ones around it part of the forest. The outermost one is appended to `roots` if it
    /// has no parent.
    private func attach(_ fragment: DeferredFragment, _ roots: inout [Delivery]) {
        var fragment = fragment
        while !fragment.isAttached {
            fragment.isAttached = true
            fragments.append(fragment)
            guard let parent = fragment.parent else {
                roots.append(fragment)
                return
            }
            parent.children.append(fragment)
            fragment = parent
        }
    }

    // MARK: - Delivering

    /// Makes deliveries pending, and completes those that have been written.
    private func announce(_ deliveries: [Delivery], _ payload: inout IncrementalPayload) {
        var queue = deliveries
        var index = 0
        while index < queue.count {
            let delivery = queue[index]
            index += 1
            if let list = delivery as? ListStream {
                lists.append(list)
                begin(list, &payload)
            } else if let fragment = delivery as? DeferredFragment {
                if fragment.parts.allSatisfy(\.isDelivered) {
                    fragment.isDone = true
                    queue += fragment.children
                    fragment.releaseContents()
                    continue
                }
                begin(fragment, &payload)
                // Its parts were written for other fragments.
                if fragment.openPartCount == 0 { queue += complete(fragment, &payload) }
            }
        }
    }

    private func begin(_ delivery: Delivery, _ payload: inout IncrementalPayload) {
        delivery.id = announcedCount
        announcedCount += 1
        pendingCount += 1
        payload.pending.append(delivery)
    }

    /// Delivers a fragment whose parts are written.
    ///
    /// - Returns: what becomes pending now.
    private func complete(
        _ fragment: DeferredFragment, _ payload: inout IncrementalPayload
    ) -> [Delivery] {
        var released: [Delivery] = []
        for part in fragment.parts where !part.isDelivered {
            part.isDelivered = true
            // The path of a fragment is a prefix of the part's path. The longest one leaves the shortest `subPath`.
            var owner = fragment
            for other in part.fragments
            where other.isPending && other.path.count > owner.path.count {
                owner = other
            }
            payload.incremental.append(
                .init(
                    owner: owner, subPath: Array(part.path.dropFirst(owner.path.count)),
                    content: .data(part.data), errors: part.errors))
            released += part.children
            part.releaseContents()
        }
        released = fragment.children + released
        fragment.releaseContents()
        end(fragment, &payload)
        return released
    }

    /// Ends a fragment or list, successfully if there are no errors.
    func end(
        _ delivery: Delivery, failedWith errors: [GraphQLError] = [],
        _ payload: inout IncrementalPayload
    ) {
        delivery.isDone = true
        pendingCount -= 1
        payload.completed.append((delivery, errors))
    }

    /// Records that an open part has been written.
    ///
    /// - Parameter found: what was found in it.
    func finish(
        _ part: DeferredObjectPart, _ data: [UInt8], _ errors: [GraphQLError],
        found: [DeferralRecorder.Entry], _ payload: inout IncrementalPayload
    ) {
        part.isWritten = true
        part.data = data
        part.errors = errors
        add(found, &part.children)
        var released: [Delivery] = []
        for fragment in part.fragments {
            fragment.openPartCount -= 1
            if fragment.isPending, fragment.openPartCount == 0 {
                released += complete(fragment, &payload)
            }
        }
        announce(released, &payload)
    }

    /// Ends the pending fragments of a part with errors. The others fail when they become pending.
    func fail(
        _ part: DeferredObjectPart, with errors: [GraphQLError],
        _ payload: inout IncrementalPayload
    ) {
        for fragment in part.fragments where fragment.isPending {
            fragment.hasFailed = true
            fragment.releaseContents()
            end(fragment, failedWith: errors, &payload)
        }
    }

    /// Ends everything that is pending with an error.
    func failAll(with error: GraphQLError, _ payload: inout IncrementalPayload) {
        for part in pendingParts() { fail(part, with: [error], &payload) }
        for list in pendingLists() { end(list, failedWith: [error], &payload) }
    }
}
