import FoundationEssentials
import Glibc
import GraphQL
import TestSupport
import Testing

/// `bookplate-admin account move` between two PostgreSQL clusters with a server each, while it is killed.
@Suite struct AccountMoveJourneyTests {
    private struct World {
        /// Keeps the second cluster running.
        let cluster: Standby
        let here: Installation
        let there: Installation
        let hereServer: RunningServer
        let thereServer: RunningServer
        let user: String
        let token: String?
        let book: String

        /// - Parameter servesBoth: whether the servers of the first database also serve the other one.
        static func make(servesBoth: Bool = false) async throws -> World {
            let cluster = try await Standby.start(count: 0)
            let here = try await Installation.ready()
            let there = try await Installation.ready(on: cluster.primary)
            try await there.database.execute("DELETE FROM tenants")
            let hereServer = try await here.startServer(servesBoth ? try variables(there) : [:])
            let keys = "\(here.folder)/.bookplate/session-keys"
            let thereServer = try await there.startServer(["BOOKPLATE_SESSION_KEYS": keys])
            let session = try await hereServer.signIn("ada")
            let token = session["accessToken"]?.string
            let user = try #require(session["user", "id"]?.string)
            let made = try await hereServer.client.execute(
                #"mutation { createBook(input: {title: "Mine", status: READ}) { id } }"#,
                token: token)
            let book = try #require(made["data", "createBook", "id"]?.string)
            let put = try await hereServer.client.send(
                "PUT", "/book-covers/\(user)/\(book).jpg", token: token,
                bytes: TestImage.png(width: 700, height: 1000, seed: 1))
            #expect(put.status == 201, "\(put.body)")
            return World(
                cluster: cluster, here: here, there: there, hereServer: hereServer,
                thereServer: thereServer, user: user, token: token, book: book)
        }

        /// The variables with which a server of the first database also serves another one.
        static func variables(_ other: Installation) throws -> [String: String?] {
            [
                "BOOKPLATE_OTHER_DATABASES": "there",
                "BOOKPLATE_DATABASE_URL_THERE": try other.database.url(as: TestCluster.app),
                "BOOKPLATE_STORAGE_THERE": "file:\(other.folder)/.bookplate/objects",
            ]
        }

        func environment() throws -> [String: String?] {
            [
                "BOOKPLATE_TARGET_DATABASE_URL": try there.database.url(as: TestCluster.owner),
                "BOOKPLATE_TARGET_STORAGE": "file:\(there.folder)/.bookplate/objects",
            ]
        }

        func start(_ arguments: String...) throws -> RunningProgram {
            try here.startAdmin(
                ["account", "move", user, "--drain", "0"] + arguments, environment())
        }

        func run(_ arguments: String...) async throws -> Program.Outcome {
            try await here.admin(
                ["account", "move", user, "--drain", "0"] + arguments, environment())
        }

        /// Changes a database as if a file of functions had not been applied yet.
        func changeFunctions(_ installation: Installation) async throws {
            try await installation.database.execute(
                """
                UPDATE schema_states SET functions = 'x' || functions;
                UPDATE schema_functions SET checksum = 'x' || checksum WHERE name = 'moves'
                """)
        }

        func titles(_ server: RunningServer) async throws -> Value {
            try await server.client.execute(
                "{ me { books { nodes { title cover { blurHash } } } } }", token: token)
        }

        /// Starts the move, and kills it when it waits for a lock in a step.
        ///
        /// - Parameters:
        ///   - table: The table that another transaction locks.
        ///   - mode: The mode of the lock. SHARE allows reads.
        func killMove(
            waitingFor table: String, in database: TestDatabase, mode: String = "ACCESS EXCLUSIVE"
        ) async throws {
            try await database.withConnection { connection in
                try connection.execute("BEGIN; LOCK TABLE \(table) IN \(mode) MODE")
                let program = try start("--yes")
                for _ in 0..<600 {
                    let waiting = try connection.query(
                        """
                        SELECT count(*) FROM pg_locks
                        WHERE NOT granted AND relation = '\(table)'::regclass
                        """)
                    if waiting.int64(0, 0) ?? 0 > 0 { break }
                    usleep(50_000)
                }
                program.send(SIGKILL)
                #expect(try program.wait().code == nil)
                try connection.execute("ROLLBACK")
            }
        }
    }

    private func code(_ response: Value) -> String? {
        response["errors", 0, "extensions", "code"]?.string
    }

    @Test func movesAnAccountBetweenClustersAlthoughItIsKilled() async throws {
        let world = try await World.make()
        let shown = try await world.titles(world.hereServer)
        #expect(shown["errors"] == nil)

        let dry = try await world.run("--dry-run", "--json")
        #expect(dry.code == 0, "\(dry.errors)")
        #expect(try await world.titles(world.hereServer) == shown)
        let unconfirmed = try await world.run()
        #expect(unconfirmed.code == 64 && unconfirmed.errors.contains("--yes"))

        // Killed while the account is being closed, nothing has happened.
        try await world.killMove(waitingFor: "access_tokens", in: world.here.database)
        #expect(try await world.titles(world.hereServer) == shown)
        // Killed while the rows are being packed, and while they are being inserted, the account is in neither database.
        for (table, database) in [
            ("imports", world.here.database), ("imports", world.there.database),
        ] {
            try await world.killMove(waitingFor: table, in: database)
            let refused = try await world.titles(world.hereServer)
            #expect(code(refused) == "SERVICE_UNAVAILABLE", "\(refused)")
            #expect(code(try await world.titles(world.thereServer)) == "UNAUTHENTICATED")
        }
        // The copy in the other database is complete, and the first one is not lost.
        let lost = try await world.here.database.text("SELECT id FROM installation")
        let arguments = ["account", "move", world.user, "--source-lost", lost, "--yes"]
        let kept = try await world.there.admin(arguments + ["--undo"])
        #expect(
            kept.code == 1 && kept.errors.contains("run the command without --undo"),
            "\(kept.errors)")
        let reached = try await world.there.admin(
            arguments,
            ["BOOKPLATE_TARGET_DATABASE_URL": try world.here.database.url(as: TestCluster.owner)])
        #expect(
            reached.code == 1 && reached.errors.contains("there without --source-lost"),
            "\(reached.errors)")
        for installation in [world.here, world.there] {
            #expect(try await installation.admin("migrate", "up").code == 0)
            try await world.changeFunctions(installation)
            let migrated = try await installation.admin("migrate", "up")
            #expect(migrated.code == 1)
            #expect(migrated.errors.contains("1 accounts are being moved, such as \(world.user)"))
            #expect(
                migrated.errors.contains("Use the release of bookplate-admin that has migrated"))
            try await installation.database.execute(
                """
                UPDATE schema_states SET functions = substr(functions, 2);
                UPDATE schema_functions SET checksum = substr(checksum, 2) WHERE name = 'moves'
                """)
        }
        let examined = try await world.here.admin("doctor", "--offline")
        #expect(examined.output.contains("1 accounts are being moved: \(world.user)"))
        let deleted = try await world.here.admin("account", "delete", world.user, "--yes")
        #expect(deleted.code == 1 && deleted.errors.contains("is being moved"), "\(deleted.errors)")
        let undone = try await world.run("--undo")
        #expect(undone.code == 0, "\(undone.errors)")
        #expect(try await world.titles(world.hereServer) == shown)
        // An interrupted run says how to continue.
        let interrupted = try world.start("--yes", "--drain", "600")
        try await waitUntil("the account is closed") {
            interrupted.errors.contains("closed the account")
        }
        interrupted.send(SIGINT)
        let ended = try interrupted.wait()
        #expect(ended.code == 1)
        #expect(ended.errors.contains("run the same command again to continue it"))
        #expect(try await world.run("--undo").code == 0)
        #expect(try await world.titles(world.hereServer) == shown)

        // Killed in its last step, the account is in the other database.
        try await world.killMove(waitingFor: "imports", in: world.there.database)
        try await world.killMove(
            waitingFor: "account_moves", in: world.here.database, mode: "SHARE")
        #expect(try await world.titles(world.thereServer) == shown)
        let tooEarly = try await world.run("--undo")
        #expect(tooEarly.code == 1 && tooEarly.errors.contains("has arrived"), "\(tooEarly.errors)")
        let moved = try await world.run("--yes", "--json", "--new-url", "https://new.example")
        #expect(moved.code == 0, "\(moved.errors)")
        #expect(try parseJSON(Array(moved.output.utf8))["dryRun"] == false)
        #expect(try await world.titles(world.thereServer) == shown)
        let after = try await world.titles(world.hereServer)
        #expect(
            after["errors", 0, "extensions"]
                == ["code": "ACCOUNT_MOVED", "url": "https://new.example"])
        let replaced = try await world.hereServer.client.send(
            "PUT", "/book-covers/\(world.user)/\(world.book).jpg", token: world.token,
            bytes: TestImage.png(width: 700, height: 1000, seed: 3))
        #expect(replaced.status == 410 && replaced.body.contains("ACCOUNT_MOVED"))
        let tooLate = try await world.run("--undo")
        #expect(tooLate.code == 1)
        #expect(tooLate.errors.contains("has arrived"))
        // It continues without an effect.
        #expect(try await world.run("--yes").code == 0)

        // Its cover can be downloaded and replaced there, and the files are sound.
        let cover = try await world.thereServer.client.send(
            "GET", "/book-covers/\(world.user)/\(world.book).jpg")
        #expect(cover.status == 200)
        let verified = try await world.there.admin(["storage", "verify"])
        #expect(verified.code == 0, "\(verified.output)")
        let put = try await world.thereServer.client.send(
            "PUT", "/book-covers/\(world.user)/\(world.book).jpg", token: world.token,
            bytes: TestImage.png(width: 700, height: 1000, seed: 2))
        #expect(put.status == 200, "\(put.body)")
        // A migration could prevent the account's return.
        try await world.changeFunctions(world.here)
        let waiting = try await world.here.admin("migrate", "up")
        #expect(waiting.code == 1 && waiting.errors.contains("within a day"), "\(waiting.errors)")
        let migrated = try await world.here.admin("migrate", "up", "--allow-moved-accounts")
        #expect(migrated.code == 0, "\(migrated.errors)")
        // The audit log names the operator and the move.
        let audit = try await world.here.admin("audit", "list", "--kind", "ACCOUNT_LEFT", "--json")
        #expect(audit.output.contains(world.user))
    }

    /// Apps that know only the first server continue without an error, and their streams reach the other database.
    @Test func serverOfBothDatabasesHidesTheMove() async throws {
        let world = try await World.make(servesBoth: true)
        let (client, path) = (
            world.hereServer.client, "/book-covers/\(world.user)/\(world.book).jpg"
        )
        let shown = try await world.titles(world.hereServer)
        let moved = try await world.run("--yes")
        #expect(moved.code == 0, "\(moved.errors)")
        #expect(try await world.here.database.count("SELECT count(*) FROM books") == 0)
        #expect(try await world.titles(world.hereServer) == shown)

        let stream = try await blocking {
            let stream = try StreamClient(port: client.port)
            try stream.send(
                "POST", "/graphql",
                headers: [
                    "content-type": "application/json", "accept": "text/event-stream",
                    "authorization": "Bearer \(world.token ?? "")",
                ], body: HTTPClient.operations("subscription { changes { typename } }", .null))
            try stream.receive(until: "text/event-stream")
            return stream
        }
        let created = try await client.execute(
            #"mutation { createShelf(input: {name: "New"}) { id } }"#, token: world.token)
        #expect(created["errors"] == nil, "\(created)")
        let event = try await blocking { try stream.receive(until: "Shelf") }
        #expect(event.contains("event: next"))
        #expect(
            try await world.there.database.count("SELECT count(*) FROM shelves WHERE name = 'New'")
                == 1)

        // Covers are read and written in the store of the other database.
        #expect(try await client.send("GET", path).status == 200)
        let replaced = try await client.send(
            "PUT", path, token: world.token,
            bytes: TestImage.png(width: 700, height: 1000, seed: 2))
        #expect(replaced.status == 200, "\(replaced.body)")
        let url = try #require(replaced.json["url"]?.string)
        let version = try #require(url.split(separator: "?").last)
        #expect(try await client.send("GET", "\(path)?\(version)").status == 200)
        let verified = try await world.there.admin(["storage", "verify"])
        #expect(verified.code == 0, "\(verified.output)")

        // Several accounts can move at the same time.
        var ids: [String] = []
        for name in ["bob", "carol", "dave"] {
            ids.append(try #require(try await world.hereServer.signIn(name)["user", "id"]?.string))
        }
        let programs = try ids.map {
            try world.here.startAdmin(
                ["account", "move", "--yes", "--drain", "0", $0], try world.environment())
        }
        for program in programs {
            let outcome = try await blocking { try program.wait() }
            #expect(outcome.code == 0, "\(outcome.errors)")
        }
        #expect(try await world.here.database.count("SELECT count(*) FROM users") == 0)
        #expect(try await world.hereServer.signIn("carol")["user", "id"]?.string == ids[1])

        let examined = try await world.here.admin(
            ["doctor", "--offline"], try World.variables(world.there))
        #expect(
            examined.output.contains("there: has the schema of this release"), "\(examined.output)")
        let copied = try await world.here.admin(
            ["doctor", "--offline"], try World.variables(world.here))
        #expect(
            copied.code == 2 && copied.output.contains("has the installation ID of the database"),
            "\(copied.output)")

        // A new device signs in to the same account.
        #expect(try await world.hereServer.signIn("ada")["user", "id"]?.string == world.user)
    }
}
