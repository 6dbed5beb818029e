import Foundation
import GRDB

/// Fetches the library: the changes since the last page, or everything again after a reset.
struct Pull {
    let db: Database

    /// Returns the next query.
    func request() throws -> SyncRequest {
        let position = try SyncPosition.load(db)
        if position.reset == nil, let read = position.missedReads.first {
            return SyncRequest(
                purpose: .pull, document: SyncDocuments.document(of: .progress),
                variables: ["id": .string(read.id), "after": JSON(read.after)])
        }
        guard let reset = position.reset else {
            return SyncRequest(
                purpose: .pull, document: SyncDocuments.changes,
                variables: ["after": JSON(position.cursor)])
        }
        let longRead = reset.stage == .progress ? reset.longReads.first : nil
        var variables: [String: JSON] = ["after": JSON(longRead?.after ?? reset.after)]
        variables["id"] = longRead.map { .string($0.id) }
        return SyncRequest(
            purpose: .pull, document: SyncDocuments.document(of: reset.stage),
            variables: .object(variables))
    }

    /// Applies a response. Returns whether the local library is now as complete as the log was when the query ran.
    func apply(_ response: HTTPResponse) throws -> Bool {
        let position = try SyncPosition.load(db)
        if position.reset != nil {
            try applyReset(GraphQLClient.data(of: response))
            return false
        }
        if !position.missedReads.isEmpty {
            try applyMissedProgress(GraphQLClient.data(of: response), position)
            return false
        }
        struct Changes: Decodable { let changes: ChangePage? }
        let decoded: Changes = try GraphQLClient.data(of: response)
        guard let page = decoded.changes, let end = page.pageInfo.endCursor else {
            throw BookplateError.invalidResponse(status: response.status)
        }
        return try apply(page, end)
    }

    private func apply(_ page: ChangePage, _ end: String) throws -> Bool {
        var position = try SyncPosition.load(db)
        let state = LibraryState(db: db)
        if page.resetRequired {
            position.reset = SyncPosition.Reset(cursor: end)
            try position.upsert(db)
            try state.forgetSeen()
            return false
        }
        position.cursor = end
        var isComplete = !page.pageInfo.hasNextPage
        try state.receive { state in
            for change in page.changes {
                guard let node = change.node else {
                    try state.remove(change.typename, change.nodeId)
                    continue
                }
                if position.followsReset, try isMissed(node, in: state) {
                    position.missedReads.append(SyncPosition.LongRead(id: node.id, after: nil))
                }
                try state.store(node)
            }
            isComplete = isComplete && position.missedReads.isEmpty
            if isComplete { try WriteQueue(db: db).removeAnswered() }
        }
        if isComplete { (position.isComplete, position.followsReset) = (true, false) }
        try position.upsert(db)
        return isComplete
    }

    /// Whether an object is a read that a reset has not delivered, because it moved in the list of reads meanwhile. The log has the read
    /// then, but not its progress.
    private func isMissed(_ node: any LibraryObject, in state: LibraryState) throws -> Bool {
        try node is Read && state.find(Read.self, node.id) == nil
    }

    private func applyMissedProgress(_ response: ResetResponse, _ old: SyncPosition) throws {
        var position = old
        let page = response.node?.progressEntries
        try LibraryState(db: db).receive { state in
            for entry in page?.nodes ?? [] { try state.store(entry) }
        }
        position.missedReads.advance(page?.pageInfo)
        try position.upsert(db)
    }

    private func applyReset(_ response: ResetResponse) throws {
        var position = try SyncPosition.load(db)
        guard var reset = position.reset else { return }
        try LibraryState(db: db).receive { state in
            let page = try store(response, &reset, in: state)
            if let page, page.hasNextPage {
                reset.after = page.endCursor
                position.reset = reset
                return
            }
            position.reset = reset.next()
            if position.reset == nil {
                try state.removeUnseen()
                position.cursor = reset.cursor
                position.followsReset = true
                position.missedReads = []
            }
        }
        try position.upsert(db)
    }

    /// Stores the objects of a page. Returns its end; nil if the stage has only one page.
    private func store(
        _ response: ResetResponse, _ reset: inout SyncPosition.Reset, in state: LibraryState
    ) throws -> PageInfo? {
        switch reset.stage {
        case .shelves:
            for shelf in response.me?.shelves ?? [] { try state.store(shelf) }
            for goal in response.me?.readingGoals ?? [] { try state.store(goal) }
            return nil
        case .books:
            for book in response.me?.books?.nodes ?? [] { try state.store(book) }
            return response.me?.books?.pageInfo
        case .reads:
            for item in response.me?.reads?.nodes ?? [] {
                try state.store(item.read)
                for entry in item.progressEntries.nodes { try state.store(entry) }
                if item.progressEntries.pageInfo.hasNextPage,
                    let after = item.progressEntries.pageInfo.endCursor
                {
                    reset.longReads.append(SyncPosition.LongRead(id: item.read.id, after: after))
                }
            }
            return response.me?.reads?.pageInfo
        case .progress:
            let page = response.node?.progressEntries
            for entry in page?.nodes ?? [] { try state.store(entry) }
            guard !reset.longReads.isEmpty else { return nil }
            reset.longReads.advance(page?.pageInfo)
            return nil
        case .notes:
            for note in response.me?.notes?.nodes ?? [] { try state.store(note) }
            return response.me?.notes?.pageInfo
        }
    }
}

extension SyncPosition.Reset {
    /// Returns the reset with its next query; nil if it is complete.
    fileprivate func next() -> Self? {
        var next = self
        next.after = nil
        if stage == .reads || stage == .progress, !longReads.isEmpty {
            next.stage = .progress
            return next
        }
        switch stage {
        case .shelves: next.stage = .books
        case .books: next.stage = .reads
        case .reads, .progress: next.stage = .notes
        case .notes: return nil
        }
        return next
    }
}

extension [SyncPosition.LongRead] {
    /// Continues with the next page of the first read, or with the next read.
    fileprivate mutating func advance(_ page: PageInfo?) {
        if let page, page.hasNextPage, let after = page.endCursor {
            self[0].after = after
        } else {
            removeFirst()
        }
    }
}
