import Foundation
import TestSupport
import Testing

@testable import BookplateClient
@testable import ClientSimulation

/// The simulation of the client's tests, with a real server in place of the model.
@Suite(
    .enabled(
        if: ProcessInfo.processInfo.environment["BOOKPLATE_TEST_CLIENT_REQUESTS"] != nil,
        "On Linux, URLSession ends the process if a request is cancelled just as it completes."))
struct ClientSimulationTests {
    @Test(arguments: 0..<10 as Range<UInt64>)
    func devicesAndServerAgreeAfterQuiet(_ seed: UInt64) async throws {
        let (address, token) = try await ClientJourneyTests.reader("simulation \(seed)")
        try await blocking {
            // Ids must differ between the runs, because the tests share the server.
            let clock = SimulatedClock(seed: .random(in: 0...UInt64.max))
            clock.now = Date()
            let server = RealServer(clock, address, token)
            // The log of a real server cannot be shortened by a test.
            let script = Simulation.script(seed: seed, length: 70).filter { !$0.prunes }
            try Simulation(clock: clock, server: server, feed: FeedPrefetch(cards: 10))
                .run(script)
        }
    }
}

/// A real server. The sessions of the devices are those of the model.
private final class RealServer: ModelServer {
    private let clock: SimulatedClock
    private let address: URL
    private let token: String

    init(_ clock: SimulatedClock, _ address: URL, _ token: String) {
        self.clock = clock
        self.address = address
        self.token = token
        super.init(clock)
    }

    override func respond(to request: SyncRequest) -> HTTPResponse {
        let client = GraphQLClient(server: address, app: "test", transport: URLSessionTransport())
        // The simulation has one thread, which waits here.
        let response = DispatchSemaphore(value: 0)
        let result = Locked(HTTPResponse(status: 0, body: Data()))
        let token = token
        Task {
            if let sent = try? client.request(request.document, request.variables, token: token),
                let received = try? await client.send(sent)
            {
                result.value = received
            }
            response.signal()
        }
        response.wait()
        return result.value
    }

    /// The library of a new device.
    override var snapshot: LibrarySnapshot {
        get throws {
            let device = try SimulatedDevice(9, clock, sessions.signIn(9, clock.now))
            while true {
                try device.send()
                guard case .sync(let request, let token)? = device.pending.popLast() else { break }
                try device.received(
                    .response(respond(to: request)), for: request, accessToken: token)
            }
            return try device.snapshot()
        }
    }
}

/// `@unchecked`: the semaphore of its only user orders the accesses.
private final class Locked: @unchecked Sendable {
    var value: HTTPResponse
    init(_ value: HTTPResponse) { self.value = value }
}
