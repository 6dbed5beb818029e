import Foundation
import GRDB

/// An error in a response of the server. `message` can be shown to a person.
public struct ServerError: Error, Hashable, Sendable, Decodable, CustomStringConvertible {
    /// A description of the problem that can be shown to a person.
    public let message: String
    /// The kind of the error.
    public let code: ErrorCode
    /// Why an input is refused; nil for errors that only have a code.
    public let reason: ErrorReason?
    /// The smallest value that is allowed, if there is one.
    public let min: Double?
    /// The largest value, length, or number of entries that is allowed, if there is one.
    public let max: Double?
    /// The name of the argument or input field that is wrong.
    public let field: String?
    /// The id of the object that exists already, if the code is CONFLICT.
    public let existingID: String?
    /// The number of seconds after which the request can succeed.
    public let retryAfter: Double?
    /// The id of the request in the log of the server.
    public let requestID: String?

    /// Creates an error, for example in tests of an app.
    public init(
        _ message: String, code: ErrorCode, reason: ErrorReason? = nil, min: Double? = nil,
        max: Double? = nil, field: String? = nil, existingID: String? = nil,
        retryAfter: Double? = nil, requestID: String? = nil
    ) {
        self.message = message
        self.code = code
        self.reason = reason
        self.min = min
        self.max = max
        self.field = field
        self.existingID = existingID
        self.retryAfter = retryAfter
        self.requestID = requestID
    }

    private enum CodingKeys: String, CodingKey {
        case message, extensions, code, reason, min, max, field
    }

    private struct Extensions: Decodable {
        let code: ErrorCode?
        let reason: ErrorReason?
        let min: Double?
        let max: Double?
        let field: String?
        let id: String?
        let retryAfter: Double?
        let requestId: String?
    }

    /// Decodes an error of a response, or an `InputError` of a batch.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let extensions = try container.decodeIfPresent(Extensions.self, forKey: .extensions)
        self.init(
            try container.decode(String.self, forKey: .message),
            code: try extensions?.code ?? container.decodeIfPresent(ErrorCode.self, forKey: .code)
                ?? .internalServerError,
            reason: try extensions?.reason
                ?? container.decodeIfPresent(ErrorReason.self, forKey: .reason),
            min: try extensions?.min ?? container.decodeIfPresent(Double.self, forKey: .min),
            max: try extensions?.max ?? container.decodeIfPresent(Double.self, forKey: .max),
            field: try extensions?.field ?? container.decodeIfPresent(String.self, forKey: .field),
            existingID: extensions?.id, retryAfter: extensions?.retryAfter,
            requestID: extensions?.requestId)
    }

    /// The message and the code.
    public var description: String { "\(message) (\(code.rawValue))" }
}

/// The kind of an error. Servers may have kinds that this version does not name.
public struct ErrorCode: OpenEnum {
    /// The name in the schema.
    public let rawValue: String
    /// Creates a value from its name in the schema.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// An input is not valid.
    public static let badUserInput = Self(rawValue: "BAD_USER_INPUT")
    /// The object exists already, or another one is in its place.
    public static let conflict = Self(rawValue: "CONFLICT")
    /// The session or the app may not do this.
    public static let forbidden = Self(rawValue: "FORBIDDEN")
    /// The server has a problem.
    public static let internalServerError = Self(rawValue: "INTERNAL_SERVER_ERROR")
    /// The local database was damaged. The server does not have this kind.
    public static let localDamage = Self(rawValue: "LOCAL_DAMAGE")
    /// There is no such object.
    public static let notFound = Self(rawValue: "NOT_FOUND")
    /// The reader has reached a limit.
    public static let quotaExceeded = Self(rawValue: "QUOTA_EXCEEDED")
    /// The reader has sent too many requests.
    public static let rateLimited = Self(rawValue: "RATE_LIMITED")
    /// The change log does not reach back to the cursor.
    public static let resetRequired = Self(rawValue: "RESET_REQUIRED")
    /// The server cannot respond now.
    public static let serviceUnavailable = Self(rawValue: "SERVICE_UNAVAILABLE")
    /// The session has ended, or the token has expired.
    public static let unauthenticated = Self(rawValue: "UNAUTHENTICATED")
    /// An external source cannot be reached.
    public static let upstreamUnavailable = Self(rawValue: "UPSTREAM_UNAVAILABLE")
}

/// Why an input is refused: a value of the schema's enum `ErrorReason`, such as `TOO_LONG`. An app that translates errors itself has a
/// text for each reason, and shows `ServerError.message` for the others.
public struct ErrorReason: OpenEnum {
    /// The name in the schema.
    public let rawValue: String
    /// Creates a value from its name in the schema.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// No source knows the ISBN.
    public static let unknownISBN = Self(rawValue: "UNKNOWN_ISBN")
}

/// An enum of the schema. Values that this version does not name are kept as they are, because a newer server may have more.
public protocol OpenEnum: RawRepresentable, Codable, Hashable, Sendable, DatabaseValueConvertible
where RawValue == String {
    init(rawValue: String)
}

/// A problem of the client itself.
public enum BookplateError: Error, Equatable, CustomStringConvertible {
    /// No reader is signed in, or the session has ended.
    case signInNeeded
    /// The server could not be reached. Nothing is known about the request.
    case unreachable(String)
    /// The response is not one of a Bookplate server.
    case invalidResponse(status: Int)
    /// The object is not in the local library.
    case notInLibrary(id: String)
    /// The input cannot be correct.
    case invalidInput(String)
    /// The keychain refused an operation, with this status.
    case keychain(status: Int32)

    /// Whether the server may have done the request, because the network or a proxy has responded instead.
    var lacksResponse: Bool {
        switch self {
        case .unreachable: true
        case .invalidResponse(let status): status >= 500
        default: false
        }
    }

    /// The message.
    public var description: String {
        switch self {
        case .signInNeeded: "Sign in to continue."
        case .unreachable(let reason):
            "The server cannot be reached: \(reason). Check the connection and try again."
        case .invalidResponse(let status):
            "The response with status \(status) is not one of a Bookplate server. Check its address."
        case .notInLibrary(let id):
            "The library on this device has no object \(id). It may have been deleted."
        case .invalidInput(let problem): problem
        case .keychain(let status): "The keychain refused access (status \(status))."
        }
    }
}
