import GraphQL
import Identity

/// Sends the requests of KOReader's plugin for progress synchronization, header by header and field by field.
///
/// Source: plugins/kosync.koplugin/KOSyncClient.lua and api.json of https://github.com/koreader/koreader. `Format.JSON` of
/// lua-Spore adds the content type, frontend/socketutil.lua the user agent, and main.lua the MD5 of the password and
/// the metadata.
struct KOReaderClient {
    private let client: HTTPClient
    private let user: String
    private let key: String
    /// The path in the address of the server that the reader has entered.
    private let base: String

    init(_ client: HTTPClient, user: String = "ada", password: String, base: String = "/koreader") {
        self.init(
            client, user: user, key: md5(password.utf8).map { lowercaseHex($0) } ?? "", base: base)
    }

    init(_ client: HTTPClient, user: String, key: String, base: String = "/koreader") {
        self.client = client
        self.user = user
        self.key = key
        self.base = base
    }

    private func send(
        _ method: String, _ path: String, body: String? = nil, isSignedIn: Bool = true
    ) async throws -> HTTPClient.Response {
        var headers: [String: String?] = [
            "accept": "application/vnd.koreader.v1+json",
            "user-agent": "KOReader/2025.10 (https://koreader.rocks/) LuaSocket/3.1.0",
        ]
        if isSignedIn {
            headers["x-auth-user"] = user
            headers["x-auth-key"] = key
        }
        if body == nil {
            headers["content-type"] = .some(nil)
            headers["content-length"] = .some(nil)
        }
        return try await client.send(method, base + path, body: body ?? "", headers: headers)
    }

    func register() async throws -> HTTPClient.Response {
        try await send(
            "POST", "/users/create", body: #"{"username":"\#(user)","password":"\#(key)"}"#,
            isSignedIn: false)
    }

    func authorize() async throws -> HTTPClient.Response { try await send("GET", "/users/auth") }

    func push(
        _ document: String, _ progress: String, _ percentage: Double, device: String = "Kobo_clara",
        deviceID: String = "7D4AE3F2B1C04B6F9C7F3B2A1D0E9F88", metadata: String? = nil
    ) async throws -> HTTPClient.Response {
        try await push(
            """
            {"percentage":\(percentage),"device_id":"\(deviceID)","document":"\(document)",\
            "progress":"\(progress)",\(metadata.map { "\"metadata\":\($0)," } ?? "")"device":"\(device)"}
            """)
    }

    func push(_ body: String) async throws -> HTTPClient.Response {
        try await send("PUT", "/syncs/progress", body: body)
    }

    func pull(_ document: String) async throws -> HTTPClient.Response {
        try await send("GET", "/syncs/progress/\(document)")
    }
}
