/// A PostgreSQL data type, identified by its OID. The OIDs of built-in types are the same everywhere.
///
/// See: https://www.postgresql.org/docs/15/catalog-pg-type.html
package struct PostgresType: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Lets the server infer the type from the parameter's context, for example an enum.
    package static let inferred = PostgresType(rawValue: 0)

    package static let bool = PostgresType(rawValue: 16)
    package static let bytea = PostgresType(rawValue: 17)
    package static let int64 = PostgresType(rawValue: 20)
    package static let int16 = PostgresType(rawValue: 21)
    package static let int32 = PostgresType(rawValue: 23)
    package static let text = PostgresType(rawValue: 25)
    package static let json = PostgresType(rawValue: 114)
    package static let float8 = PostgresType(rawValue: 701)
    package static let date = PostgresType(rawValue: 1082)
    package static let timestamptz = PostgresType(rawValue: 1184)
    package static let uuid = PostgresType(rawValue: 2950)
    package static let jsonb = PostgresType(rawValue: 3802)

    /// The array type with this element type; `.inferred` if it is not listed here.
    package var array: PostgresType {
        switch self {
        case .bool: PostgresType(rawValue: 1000)
        case .bytea: PostgresType(rawValue: 1001)
        case .int16: PostgresType(rawValue: 1005)
        case .int32: PostgresType(rawValue: 1007)
        case .text: PostgresType(rawValue: 1009)
        case .int64: PostgresType(rawValue: 1016)
        case .float8: PostgresType(rawValue: 1022)
        case .date: PostgresType(rawValue: 1182)
        case .timestamptz: PostgresType(rawValue: 1185)
        case .json: PostgresType(rawValue: 199)
        case .uuid: PostgresType(rawValue: 2951)
        case .jsonb: PostgresType(rawValue: 3807)
        default: .inferred
        }
    }
}

/// PostgreSQL's epoch, 2000-01-01T00:00:00Z, in microseconds since the Unix epoch.
let postgresEpochMicroseconds: Int64 = 946_684_800_000_000

/// PostgreSQL's epoch in days since 1970-01-01.
let postgresEpochDays: Int32 = 10_957
