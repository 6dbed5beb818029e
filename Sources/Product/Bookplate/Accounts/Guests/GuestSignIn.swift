import GraphQL
import Identity
import Postgres
import Requests

/// Sign-in without an identity.
extension Sessions {
    /// Creates a guest and opens a session.
    ///
    /// If the response is lost, the client has no token of the guest, and a job deletes the guest later.
    static let signInAsGuest = PlainMutation(.one, isPublic: true) {
        arguments, request throws(BookplateError) in
        let rates = request.services.rates
        try rates.takeGuest(from: request.address)
        let device = try DeviceSettings(arguments, request)
        let app = arguments["app"]?.string ?? ""
        let tenants = try await request.services.accounts.tenants.all(for: request)
        guard let tenant = tenants.first(where: { $0.audiences.contains(app) }),
            tenant.allowsGuests
        else { throw .forbidden("This app does not allow guests. Sign in.") }
        try rates.takeGuest(of: tenant.id)
        let secret = RefreshTicket.newSecret()
        let ticket = RefreshTicket(
            tenantID: tenant.id, userID: .version7(), sessionID: .version7(), secret: secret)
        try await request.anonymous { pipeline in
            pipeline.append(setUser, .of(ticket.userID, ticket.tenantID))
            var guest = Parameters.of(ticket.userID, ticket.tenantID)
            guest.append(texts: device.languages)
            pipeline.append(createGuest, guest)
            device.appendTimeZone(to: &pipeline)
            var session = Parameters.of(ticket.userID, ticket.sessionID)
            session.append(bytea: ticket.hash)
            session.append(text: device.name)
            pipeline.append(insertSession, session)
        }
        request.services.accounts.guestMetrics.countCreated()
        return [session(ticket, isNewUser: true, request)]
    }

    private static let createGuest = Statement(
        "INSERT INTO users (id, tenant_id, is_guest, languages) VALUES ($1, $2, true, $3)")

    private static let insertSession = Statement(
        """
        INSERT INTO sessions (user_id, id, refresh_hash, device_name, expires_at)
        VALUES ($1, $2, $3, $4, now() + interval '\(refreshTokenDays) days')
        """)
}
