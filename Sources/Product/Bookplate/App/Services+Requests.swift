import GraphQL
import Postgres
import Requests

extension RequestContext {
    /// The services with which the runner, or the initializer below, has created this context.
    var services: Services { unsafeDowncast(product, to: Services.self) }

    /// Creates the context of a request that is not a GraphQL request.
    convenience init(
        viewer: Viewer?, database: ConnectionPool, services: Services, requestID: String,
        address: RateKey? = nil, charges: RequestCharges? = nil,
        hasTimedOut: @escaping @Sendable () -> Bool = { false }
    ) {
        self.init(
            viewer: viewer, database: database, environment: services.environment,
            product: services, requestID: requestID, address: address, charges: charges,
            hasTimedOut: hasTimedOut)
    }
}

extension RequestRunner {
    package convenience init(
        _ schema: BookplateSchema, database: ConnectionPool, services: Services,
        limits: RequestLimits = .bookplate, documents: DocumentPolicy = DocumentPolicy(),
        isDevelopment: Bool = false, acceptsOnError: Bool = false
    ) {
        self.init(
            schema.schema, schema.resolvers, database: database,
            environment: services.environment, product: services, limits: limits,
            documents: documents, isDevelopment: isDevelopment, acceptsOnError: acceptsOnError)
    }
}
