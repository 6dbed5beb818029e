import Foundation

/// The connection of an app to a Bookplate server: who is signed in, and the local library of the reader.
///
/// Each reader has a folder of its own. When another reader signs in, the library and the queue of the first one stay where they are,
/// and continue when that reader signs in again.
public actor Bookplate {
    private let client: GraphQLClient
    private let folder: URL
    private let environment: ClientEnvironment
    private let authenticator: Authenticator
    private let coverCacheLimit: Int
    private var opened: [String: Library] = [:]

    /// Opens the session of the last launch, if there is one.
    ///
    /// - Parameters:
    ///   - server: the address of the server, such as `https://books.example.com`.
    ///   - app: the bundle id or client id that identity tokens are issued for.
    ///   - folder: the folder for the libraries on this device. It is created if necessary.
    ///   - sessionStore: where the session is stored.
    ///   - coverCacheLimit: the maximum size of the images on the device, in bytes for each reader.
    ///   - environment: the network, the time, and random numbers.
    /// - Throws: if the session store cannot be read.
    public init(
        server: URL, app: String, folder: URL, sessionStore: any SessionStore,
        coverCacheLimit: Int = 200 << 20,
        environment: ClientEnvironment = ClientEnvironment()
    ) throws {
        client = GraphQLClient(server: server, app: app, transport: environment.transport)
        self.folder = folder
        self.coverCacheLimit = coverCacheLimit
        self.environment = environment
        authenticator = try Authenticator(sessionStore, client, environment)
    }

    /// The library of the reader who signed in last, also if the session has ended since. Nil if there is none.
    public var library: Library? {
        get async throws {
            guard let session = await authenticator.session else { return nil }
            return try await library(of: session)
        }
    }

    /// Whether a session is active. If not, the library can still be read and changed, and the changes are sent after the reader has
    /// signed in again.
    public var isSignedIn: Bool {
        get async { await authenticator.session?.tokens != nil }
    }

    // MARK: Sign in

    /// Signs in with Apple. A guest becomes the account.
    public func signIn(apple credential: AppleCredential, deviceName: String? = nil) async throws
        -> Library
    {
        try await signIn(credential.input, deviceName)
    }

    /// Signs in with an OpenID Connect provider. A guest becomes the account.
    public func signIn(openID credential: OpenIDCredential, deviceName: String? = nil) async throws
        -> Library
    {
        try await signIn(credential.input, deviceName)
    }

    /// Creates a guest, who can sign in later and keeps the library then.
    public func signInAsGuest(deviceName: String? = nil) async throws -> Library {
        struct Response: Decodable { let signInAsGuest: SignedIn }
        let response: Response = try await client.execute(
            """
            mutation ($app: String!, $deviceName: String, $timeZone: String, $languages: [String!]) {
              signInAsGuest(
                app: $app, deviceName: $deviceName, timeZone: $timeZone, languages: $languages
              ) \(SignedIn.selection)
            }
            """,
            .object(
                Self.device(deviceName).merging(["app": .string(client.app)]) { $1 }), token: nil)
        return try await start(response.signInAsGuest.stored())
    }

    /// Returns what the server stores of the device, if the account does not have it yet.
    private static func device(_ name: String?) -> [String: JSON] {
        [
            "deviceName": JSON(name), "timeZone": .string(TimeZone.current.identifier),
            "languages": .array(Locale.preferredLanguages.prefix(10).map { .string($0) }),
        ]
    }

    private func signIn(_ input: JSON, _ deviceName: String?) async throws -> Library {
        struct Response: Decodable { let signIn: SignedIn }
        let old = await authenticator.session
        var guest: String?
        if let old, old.isGuest {
            // The guest's library would be lost without the token. The sign-in therefore fails if the server cannot be reached.
            do {
                guest = try await authenticator.accessToken(of: old.userID)
            } catch BookplateError.signInNeeded {
                // The session of the guest has ended: its library cannot be opened again.
            }
        }
        let token = guest
        // Within a minute, the server responds to a repetition with the same session.
        let response = try await environment.repeatedly { [client] in
            try await client.execute(
                """
                mutation ($input: SignInInput!, $deviceName: String, $timeZone: String, $languages: [String!]) {
                  signIn(
                    input: $input, deviceName: $deviceName, timeZone: $timeZone, languages: $languages
                  ) \(SignedIn.selection)
                }
                """, .object(Self.device(deviceName).merging(["input": input]) { $1 }),
                token: token,
                as: Response.self)
        }
        // The guest's session has also ended if the app was killed after an earlier sign-in had moved the library on the server.
        let mergedGuest = old.flatMap {
            $0.isGuest && $0.userID != response.signIn.user.id ? $0.userID : nil
        }
        return try await start(response.signIn.stored(mergedGuestID: mergedGuest))
    }

    private func start(_ session: StoredSession) async throws -> Library {
        try await authenticator.replace(session)
        return try await library(of: session)
    }

    // MARK: Sign out

    /// Ends the session. The library stays on the device for the next sign-in of the same reader, unless `keepsLibrary` is false.
    ///
    /// - Parameters:
    ///   - everywhere: whether to end all sessions of the reader, and the access of tokens and other apps.
    ///   - keepsLibrary: whether the library and the changes that have not been sent stay on the device.
    /// - Throws: `BookplateError.unreachable` if the server did not end the session. The reader is still signed in then.
    public func signOut(everywhere: Bool = false, keepsLibrary: Bool = true) async throws {
        guard let session = await authenticator.session else { return }
        struct Response: Decodable {}
        do {
            let _: Response = try await authenticator.execute(
                "mutation ($everywhere: Boolean) { signOut(everywhere: $everywhere) { endedSessions } }",
                ["everywhere": .bool(everywhere)], of: session.userID)
        } catch BookplateError.signInNeeded {
            // The session has ended already.
        }
        try await authenticator.replace(nil)
        if !keepsLibrary { try removeLibrary(of: session.userID) }
    }

    /// Deletes the account with all its data, on the server and on this device.
    ///
    /// - Throws: `BookplateError.signInNeeded` if the session has ended. Sign in again first.
    public func deleteAccount() async throws {
        guard let user = await authenticator.session?.userID else {
            throw BookplateError.signInNeeded
        }
        do {
            try await requestDeletion(of: user)
        } catch let error as BookplateError where error.lacksResponse {
            do {
                try await environment.repeatedly { try await self.requestDeletion(of: user) }
            } catch BookplateError.signInNeeded {
                // The first request has deleted the account, and the session with it.
            }
        }
        try await authenticator.replace(nil)
        try removeLibrary(of: user)
    }

    private func requestDeletion(of user: String) async throws {
        struct Response: Decodable {}
        let _: Response = try await authenticator.execute(
            "mutation ($user: String!) { deleteAccount(confirm: $user) { books } }",
            ["user": .string(user)], of: user)
    }

    // MARK: Libraries

    private func library(of session: StoredSession) async throws -> Library {
        let library = try open(session.userID)
        if let guest = session.mergedGuestID {
            // Repeated after a crash until the session is stored without the guest.
            try library.adopt(try open(guest))
            try removeLibrary(of: guest)
            try await authenticator.moved(guest: guest, into: session.userID)
        }
        return library
    }

    private func open(_ userID: String) throws -> Library {
        if let library = opened[userID] { return library }
        let library = Library(
            userID: userID,
            writer: try LibraryDatabase.open(
                in: folder(of: userID), at: environment.timestamp),
            folder: folder(of: userID),
            environment: environment, client: client, authenticator: authenticator,
            coverCacheLimit: coverCacheLimit)
        opened[userID] = library
        return library
    }

    private func removeLibrary(of userID: String) throws {
        if let library = opened.removeValue(forKey: userID) { try library.close() }
        let folder = folder(of: userID)
        if FileManager.default.fileExists(atPath: folder.path) {
            try FileManager.default.removeItem(at: folder)
        }
    }

    private func folder(of userID: String) -> URL {
        folder.appendingPathComponent("readers").appendingPathComponent(userID)
    }
}
