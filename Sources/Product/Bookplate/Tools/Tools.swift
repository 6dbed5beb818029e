import Basics
import GraphQL
import GraphQLServing
import Postgres
import Requests

/// Offers the trusted documents as tools to callers with a personal access token, or with the access token of an app.
/// Belongs to one event loop.
///
/// The name of a tool is that of the first operation of its document. If several documents have operations with the same
/// name, the tool is the document that was synchronized last. A token that is bound to documents can call only these.
package final class Tools: ToolService {
    /// The maximum number of tools of a page.
    static let pageMax = 50

    private let runner: RequestRunner
    private let catalog: ToolCatalog
    private let database: ConnectionPool
    private let services: Services

    package init(
        _ runner: RequestRunner, _ catalog: ToolCatalog, database: ConnectionPool,
        services: Services
    ) {
        self.runner = runner
        self.catalog = catalog
        self.database = database
        self.services = services
    }

    package func authenticate(_ caller: ToolCaller) async throws(ToolRefusal) {
        let session = try await session(of: caller)
        try await session.read()
    }

    package func tools(
        for caller: ToolCaller, after cursor: String?
    ) async throws(ToolRefusal) -> ToolPage {
        var last = ""
        if let cursor {
            guard let name = Base64URL.decode(cursor.utf8), !name.contains(0),
                name.count <= Tool.nameCharactersMax
            else { throw .invalidCursor }
            last = String(decoding: name, as: UTF8.self)
        }
        let session = try await session(of: caller)
        let documents = try await session.documents(Self.page, last)
        var tools: [[UInt8]] = []
        for document in documents.prefix(Self.pageMax) {
            if let tool = await catalog.tool(of: document.body, sha256: document.sha256),
                session.token.scopes.isSuperset(of: tool.scopes)
            {
                tools.append(tool.json)
            }
            // The first request computes the tools. Other requests of this event loop run in between.
            await Task.yield()
        }
        let next =
            documents.count > Self.pageMax
            ? Base64URL.encode(Array(documents[Self.pageMax - 1].name.utf8)) : nil
        return ToolPage(tools: tools, next: next)
    }

    package func call(
        _ name: String, _ arguments: Value, for caller: ToolCaller
    ) async throws(ToolRefusal) -> GraphQLResponse? {
        let session = try await session(of: caller)
        guard name.utf8.count <= Tool.nameCharactersMax, !name.utf8.contains(0) else {
            try await session.read()
            return nil
        }
        guard let document = try await session.documents(Self.named, name).first,
            let tool = await catalog.tool(of: document.body, sha256: document.sha256)
        else { return nil }
        if let problem = Self.unknownArgument(arguments, of: tool) {
            return GraphQLResponse(
                body: RequestErrors.badInput(problem).body, isRequestError: true)
        }
        var request = GraphQLRequest(
            documentID: "sha256:\(document.sha256)", operationName: name, variables: arguments,
            bearerToken: caller.bearerToken, requestID: caller.requestID)
        request.client = caller.client
        request.app = caller.app
        request.hasTimedOut = caller.hasTimedOut
        return await runner.respond(to: request)
    }

    /// Returns a message about the first argument that the tool does not have. GraphQL ignores such variables, but an assistant that
    /// has misspelled an optional one should know.
    private static func unknownArgument(_ arguments: Value, of tool: Tool) -> String? {
        guard case .object(let members) = arguments,
            let unknown = members.first(where: { !tool.argumentNames.contains($0.name) })
        else { return nil }
        let known = tool.argumentNames.isEmpty ? "none" : tool.argumentNames.joined(separator: ", ")
        return "The tool has no argument '\(unknown.name.prefix(100))'. Its arguments: \(known)."
    }

    // MARK: - Callers

    /// A request with a valid token. The token may have been revoked: the first read checks that.
    private struct Session {
        let context: RequestContext
        let token: KnownToken

        /// Checks that the token exists and that the tenant allows tools.
        func read() async throws(ToolRefusal) {
            _ = try await documents(nil, "")
        }

        /// Checks the same as `read`, and returns the documents that a statement finds and that the token may run.
        func documents(
            _ statement: TypedStatement<ToolDocument>?, _ name: String
        ) async throws(ToolRefusal) -> [ToolDocument] {
            do throws(BookplateError) {
                let (results, keys) = try await context.read { pipeline, viewer in
                    let isAllowed = pipeline.append(Tools.isAllowed, .of(viewer.tenantID))
                    let documents = statement.map { statement in
                        var parameters = Parameters()
                        parameters.append(text: name)
                        if let documents = token.documents {
                            parameters.append(texts: documents)
                        } else {
                            parameters.appendNull(.text.array)
                        }
                        return pipeline.append(statement, parameters)
                    }
                    return (isAllowed: isAllowed, documents: documents)
                }
                guard results[keys.isAllowed].first == true else {
                    throw .forbidden(
                        "This app does not allow tools. The operator can allow them: bookplate-admin tenant update SLUG --mcp on."
                    )
                }
                return keys.documents.map { results[$0] } ?? []
            } catch {
                throw ToolRefusal(error)
            }
        }
    }

    private func session(of caller: ToolCaller) async throws(ToolRefusal) -> Session {
        let context = RequestContext(
            viewer: nil, database: database, services: services, requestID: caller.requestID,
            address: caller.client.map { RateKey($0) }, hasTimedOut: caller.hasTimedOut)
        do throws(BookplateError) {
            let token = try await context.token(TokenCredential(bearer: caller.bearerToken))
            context.viewer = token.viewer
            try await checkTenant(caller.tenant, of: token.viewer, context)
            // Includes the size of the message, also for a tool that does not exist.
            try context.charges.charge(1 + RateLimits.units(forBodyOf: caller.bodyByteCount))
            return Session(context: context, token: token)
        } catch {
            throw ToolRefusal(error)
        }
    }

    /// Checks that a token belongs to the tenant in the path.
    private func checkTenant(
        _ slug: String?, of viewer: Viewer, _ context: RequestContext
    ) async throws(BookplateError) {
        guard let slug else { return }
        let tenants = try await services.accounts.tenants.all(for: context)
        guard tenants.contains(where: { $0.slug == slug && $0.id == viewer.tenantID }) else {
            throw .unauthenticated
        }
    }

    // MARK: - Statements

    /// A trusted document.
    struct ToolDocument: RowDecodable {
        let name: String
        let sha256: String
        let body: String

        init?(_ row: inout RowReader) {
            guard let name = row.text(), let sha256 = row.text(), let body = row.text() else {
                return nil
            }
            self.name = name
            self.sha256 = sha256
            self.body = body
        }
    }

    private static let isAllowed = TypedStatement<Bool>("SELECT mcp FROM tenants WHERE id = $1")

    /// The documents of a page and one more, by the names of their operations after $1.
    private static let page = documents(where: #"name COLLATE "C" > $1"#, limit: pageMax + 1)
    private static let named = documents(where: "name = $1", limit: 1)

    private static func documents(
        where condition: String, limit: Int
    ) -> TypedStatement<ToolDocument> {
        TypedStatement(
            """
            SELECT DISTINCT ON (name COLLATE "C") name, sha256, body
            FROM documents
            WHERE \(condition)
                AND char_length(name) <= \(Tool.nameCharactersMax)
                AND kind <> 'subscription'
                AND ($2::text[] IS NULL OR sha256 = ANY ($2))
            ORDER BY name COLLATE "C", synced_at DESC, created_at DESC, id
            LIMIT \(limit)
            """)
    }
}

extension ToolRefusal {
    fileprivate init(_ error: BookplateError) {
        self =
            switch error {
            case .unauthenticated: .unauthenticated
            case .forbidden(let message, _): .forbidden(message)
            case .rateLimited(let seconds): .rateLimited(retryAfterSeconds: seconds)
            case .serviceUnavailable(let seconds, _): .unavailable(retryAfterSeconds: seconds)
            default: .internalError
            }
    }
}
