extension RateLimits {
    /// The limits in units per minute, unless stated otherwise; nil for no limit.
    package struct Settings: Sendable, Equatable {
        /// The limit for each user, and for each address of clients that are not signed in.
        package var perCaller: Int?
        /// The limit for each address, for all users together.
        package var perAddress: Int?
        /// The limit for sign-ins from each address.
        package var signIns: Int?
        /// The limit for refreshes from each address.
        package var refreshes: Int?
        /// The limit for new guests from each address.
        package var guests: Int?
        /// The limit for new guests of each tenant.
        package var guestsOfTenant: Int?
        /// The maximum number of sign-ins of each user per hour, on all servers together.
        package var signInsOfUserPerHour: Int?

        /// The time of the database, or of the server for planning an operation, that one unit pays for, in nanoseconds; nil if time costs
        /// nothing. With 600 units per minute and 10 ms, one caller can use about a tenth of a core in the long run.
        package var nanosecondsPerUnit: Int64?

        package init(
            perCaller: Int? = nil, perAddress: Int? = nil, signIns: Int? = nil,
            refreshes: Int? = nil, guests: Int? = nil, guestsOfTenant: Int? = nil,
            signInsOfUserPerHour: Int? = nil, nanosecondsPerUnit: Int64? = nil
        ) {
            self.perCaller = perCaller
            self.perAddress = perAddress
            self.signIns = signIns
            self.refreshes = refreshes
            self.guests = guests
            self.guestsOfTenant = guestsOfTenant
            self.signInsOfUserPerHour = signInsOfUserPerHour
            self.nanosecondsPerUnit = nanosecondsPerUnit
        }
    }
}
