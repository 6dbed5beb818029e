import Foundation
import GRDB
import TestBasics

@testable import BookplateClient

/// Three devices of one reader, a server, and everything that can go wrong between them.
///
/// A simulation runs a script. Each step carries the numbers of its random choices, so that a part of a script is a script, too.
final class Simulation {
    struct Step: Hashable, CustomStringConvertible {
        enum Kind: Hashable {
            case edit, network, crash, sleep, prune, revoke, signIn, latecomer, clockJump
        }
        let kind: Kind
        let device: Int
        let number: UInt64
        /// Whether the server deletes its change log.
        var prunes: Bool { kind == .prune || kind == .sleep && number % 3 == 2 }
        var description: String { "\(kind) on device \(device) (\(number))" }
    }

    /// A property that does not hold.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let clock: SimulatedClock
    let server: ModelServer
    private(set) var devices: [SimulatedDevice] = []
    private let fault: PlantedFault?
    /// Requests that the client has given up and that may still reach the server, until their write is answered.
    private var latecomers: [(device: Int, request: SyncRequest)] = []
    /// The requests that were answered.
    private(set) var requestCount = 0

    /// - Parameter server: another server in place of the model.
    init(
        deviceCount: Int = 3, fault: PlantedFault? = nil,
        clock: SimulatedClock = SimulatedClock(seed: 1),
        server: ModelServer? = nil, feed: FeedPrefetch? = nil
    ) throws {
        self.clock = clock
        self.server = server ?? ModelServer(clock)
        self.fault = fault
        for number in 0..<deviceCount {
            devices.append(
                try SimulatedDevice(
                    number, clock, self.server.sessions.signIn(number, clock.now), feed: feed))
        }
    }

    static func script(seed: UInt64, length: Int) -> [Step] {
        var generator = SeededGenerator(seed)
        let kinds: [Step.Kind] =
            Array(repeating: .network, count: 60) + Array(repeating: .edit, count: 28)
            + Array(repeating: .crash, count: 6) + Array(repeating: .sleep, count: 3)
            + [.prune, .revoke, .signIn, .signIn, .signIn, .latecomer, .latecomer, .latecomer]
            + [.clockJump]
        return (0..<length).map { _ in
            Step(
                kind: kinds[Int(generator.next() % UInt64(kinds.count))],
                device: Int(generator.next() % 3), number: generator.next())
        }
    }

    /// Runs the script, waits until everything is quiet, and checks the properties.
    func run(_ script: [Step]) throws {
        for step in script {
            let device = devices[step.device]
            clock.now += 0.25
            switch step.kind {
            case .edit: try device.edit { try Edit(number: step.number).apply(to: $0) }
            case .network: try network(device, step.number)
            case .crash:
                try device.restart()
                try fault?.afterRestart(device)
            case .sleep: clock.now += [30, 600, 100 * 86_400][Int(step.number % 3)]
            case .prune: break
            case .revoke: server.sessions.revoke(step.device)
            case .signIn:
                if device.needsSignIn {
                    try device.signIn(server.sessions.signIn(step.device, clock.now))
                }
            case .clockJump:
                device.skew = [0, -86_400, 3600, 40 * 86_400][Int(step.number % 4)]
            case .latecomer:
                guard !latecomers.isEmpty else { break }
                let (number, request) = latecomers.remove(
                    at: Int(step.number % UInt64(latecomers.count)))
                _ = respond(to: request, from: devices[number])
            }
            // The log covers 90 days.
            if step.prunes { server.prune() }
            try checkQueuedCreations(device)
            try checkFinishedCreations(device)
            try checkFeed(device)
        }
        try settle()
        try check()
    }

    // MARK: Network

    private func network(_ device: SimulatedDevice, _ number: UInt64) throws {
        try device.send()
        guard !device.pending.isEmpty else {
            clock.now += 2
            // A live event.
            if number % 3 == 0 { device.engine.pullSoon() }
            return
        }
        let request = device.pending.remove(at: Int(number >> 8) % device.pending.count)
        let luck = number % 100
        switch request {
        case .refresh(let token):
            // 0..<15: no request. 15..<30: no response.
            guard luck >= 15 else { return }
            let tokens = server.sessions.refresh(token, clock.now)
            if luck >= 30 { try device.refreshed(tokens) }
        case .sync(let request, let accessToken):
            let outcome = try deliver(request, accessToken, from: device, luck)
            try receive(outcome, for: request, accessToken, on: device)
        }
    }

    private func deliver(
        _ request: SyncRequest, _ accessToken: String, from device: SimulatedDevice, _ luck: UInt64
    ) throws -> SyncOutcome {
        guard luck >= 10 else {
            if luck < 5 { latecomers.append((device.number, request)) }
            return .unreachable
        }
        if luck < 14 {
            return .response(
                ModelServer.response(ServerError("Busy", code: .serviceUnavailable, retryAfter: 3)))
        }
        if luck < 15 {
            return .response(ModelServer.response(ServerError("Bug", code: .internalServerError)))
        }
        // Another program responds, such as the sign-in page of a network.
        if luck < 16 { return .response(HTTPResponse(status: 200, body: Data("{}".utf8))) }
        guard server.sessions.accepts(accessToken, clock.now) else {
            return .response(ModelServer.response(ServerError("Sign in", code: .unauthenticated)))
        }
        var sent = request
        fault?.change(&sent, of: device)
        var response = respond(to: sent, from: device)
        // A proxy has sent the request twice.
        if luck < 24 { response = respond(to: sent, from: device) }
        return luck < 40 ? .unreachable : .response(response)
    }

    private func respond(to request: SyncRequest, from device: SimulatedDevice) -> HTTPResponse {
        let response = server.respond(to: request)
        if case .write(let seq, _) = request.purpose, !Self.hasError(response) {
            device.done.insert(seq)
        }
        return response
    }

    /// Whether the server has refused a mutation, or the only entry of a batch.
    private static func hasError(_ response: HTTPResponse) -> Bool {
        guard let body = try? JSONDecoder().decode(JSON.self, from: response.body) else {
            return true
        }
        let entry = body["data"]?["logProgress"]?.array.first?["error"]
        return body["errors"] != nil || entry.map { $0 != .null } ?? false
    }

    private func receive(
        _ outcome: SyncOutcome, for request: SyncRequest, _ accessToken: String,
        on device: SimulatedDevice
    ) throws {
        let before = fault == nil ? nil : try device.snapshot()
        try device.received(outcome, for: request, accessToken: accessToken)
        requestCount += 1
        if case .write(let seq, let operation) = request.purpose {
            let answer = WriteAnswer(outcome, to: operation)
            if case .done = answer { device.answered.insert(seq) }
            if answer.isFinal {
                latecomers.removeAll {
                    $0.device == device.number && $0.request.purpose == request.purpose
                }
            }
        }
        if let fault, let before {
            try fault.afterResponse(device, request, outcome, before: before)
        }
    }

    /// Lets all devices finish, with a perfect network.
    func settle() throws {
        latecomers = []
        for _ in 0..<3 {
            for device in devices {
                if device.needsSignIn {
                    try device.signIn(server.sessions.signIn(device.number, clock.now))
                }
                device.engine.pullSoon()
                try finish(device)
            }
        }
    }

    private func finish(_ device: SimulatedDevice) throws {
        for _ in 0..<2000 {
            try device.send()
            if device.pending.isEmpty {
                if device.needsSignIn {
                    try device.signIn(server.sessions.signIn(device.number, clock.now))
                } else if try device.isQuiet {
                    return
                }
                clock.now += 400
                continue
            }
            switch device.pending.removeFirst() {
            case .refresh(let token):
                try device.refreshed(server.sessions.refresh(token, clock.now))
            case .sync(let request, let token):
                let outcome = try deliver(request, token, from: device, 99)
                try receive(outcome, for: request, token, on: device)
            }
        }
        throw Failure(description: "Device \(device.number) does not become quiet.")
    }

    // MARK: Properties

    /// Created objects stay in the library of their device until the server refuses them, or a later write deletes them.
    private func checkQueuedCreations(_ device: SimulatedDevice) throws {
        let missing = try device.database.read { db in
            try String.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT target FROM write
                        WHERE operation IN ('createShelf', 'createBook')
                            AND target NOT IN (SELECT id FROM shelf) AND target NOT IN (SELECT id FROM book)
                            AND NOT EXISTS (
                                SELECT 1 FROM write later
                                WHERE later.operation = 'deleteShelf' OR later.operation LIKE 'delete%' AND later.target = write.target
                            )
                        """))
        }
        if let missing {
            throw Failure(
                description:
                    "Device \(device.number) does not show \(missing), which it has created.")
        }
    }

    /// After the answer, the object stays in the library as long as the server has it.
    private func checkFinishedCreations(_ device: SimulatedDevice) throws {
        let shown = try device.database.read { db in
            let sql = "SELECT id FROM book UNION ALL SELECT id FROM shelf"
            return Set(try String.fetchAll(db.cachedStatement(sql: sql)))
        }
        let isDeleting = device.issued.contains {
            $0.value.operation.rawValue.hasPrefix("delete") && !device.answered.contains($0.key)
        }
        guard !isDeleting else { return }
        for seq in device.answered {
            // An object that was created again after a deletion appears with the next page.
            guard let write = device.issued[seq],
                [.createShelf, .createBook].contains(write.operation),
                !shown.contains(write.target), server.creations[write.target] == 1
            else { continue }
            let id = write.target
            if server.books[id] != nil || server.shelves.contains(where: { $0.id == id }) {
                throw Failure(
                    description:
                        "Device \(device.number) does not show \(id), which the server has.")
            }
        }
    }

    /// A swiped card does not come back, and neither does another edition of its work.
    private func checkFeed(_ device: SimulatedDevice) throws {
        var swipes: [String: Write] = [:]
        for (_, write) in device.issued.sorted(by: { $0.key < $1.key }) {
            guard let card = write.input["cardId"]?.string else { continue }
            if write.operation == .recordSwipes { swipes[card] = write }
            if write.operation == .undoSwipe { swipes[card] = nil }
        }
        let monthAgo = clock.now.addingTimeInterval(device.skew - 30 * 86_400)
        let works = Set(
            swipes.values.filter { ($0.madeAt.date ?? .distantPast) > monthAgo }
                .compactMap(\.card?.work))
        let shown = try device.database.read { try Deck(db: $0).cards(limit: 200) }
        if let card = shown.first(where: { works.contains($0.work) }) {
            throw Failure(description: "Device \(device.number) shows \(card.id) again.")
        }
    }

    private func check() throws {
        let expected = try server.snapshot
        for device in devices {
            let found = try device.snapshot()
            if found != expected {
                let differences = found.objects.symmetricDifference(expected.objects)
                throw Failure(
                    description:
                        "Device \(device.number) differs from the server: \(differences.sorted())")
            }
            try checkNothingIsLost(device)
            try checkNothingIsLeft(device)
        }
        if let (id, count) = server.creations.first(where: { $0.value > 1 && !isRecreation($0.key) }
        ) {
            throw Failure(description: "\(id) was created \(count) times.")
        }
        let known = Set(
            devices.flatMap { $0.issued.values.flatMap(\.creates) + $0.issued.values.map(\.target) }
        )
        if let id = server.creations.keys.first(where: { !known.contains($0) }) {
            throw Failure(description: "\(id) was created, but no device has asked for it.")
        }
    }

    /// A shelf or a book that another device has deleted can be created again by a repetition, with the first read of the book.
    private func isRecreation(_ id: String) -> Bool {
        let writes = devices.flatMap(\.issued.values)
        guard let creation = writes.first(where: { $0.creates.contains(id) }) else { return false }
        return writes.contains { write in
            switch write.operation {
            case .deleteShelf where write.input["books"] == "DELETE":
                write.target == id || creation.operation == .createBook
            case .deleteShelf, .deleteBook: write.target == creation.target
            default: false
            }
        }
    }

    private func checkNothingIsLost(_ device: SimulatedDevice) throws {
        let problems = try device.database.read { try Problem.fetchAll($0) }
        let reported = Set(problems.flatMap(\.undone))
        for (seq, write) in device.issued.sorted(by: { $0.key < $1.key })
        where !device.done.contains(seq) {
            let targets = Self.names(of: write.target, device, problems)
            let isReported = reported.contains {
                $0.operation == write.operation.rawValue && targets.contains($0.target)
            }
            guard !isReported else { continue }
            throw Failure(
                description:
                    "\(write.operation) \(write.target) of device \(device.number) is neither done nor reported."
            )
        }
    }

    /// Returns the ids by which the writes of a device may know an object: its own, and those of existing objects that took its place.
    private static func names(
        of id: String, _ device: SimulatedDevice, _ problems: [Problem]
    ) -> Set<String> {
        var names: Set = [id]
        // The problems are in the order of the refusals.
        for problem in problems {
            guard let existing = problem.existingID else { continue }
            let created = device.issued.values.filter { $0.operation.rawValue == problem.operation }
                .flatMap(\.creates)
            if !names.isDisjoint(with: created) { names.insert(existing) }
        }
        return names
    }

    private func checkNothingIsLeft(_ device: SimulatedDevice) throws {
        for table in ["write", "server_state", "seen"] {
            let count = try device.database.read {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)")
            }
            if count != 0 {
                throw Failure(
                    description:
                        "The table \(table) of device \(device.number) has \(count ?? 0) rows.")
            }
        }
    }
}

extension WriteAnswer {
    /// Whether the client does not send the write again.
    fileprivate var isFinal: Bool {
        switch self {
        case .done, .refused: true
        default: false
        }
    }
}
