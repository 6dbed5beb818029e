import GraphQL
import Identity
import Postgres
import Requests

/// A position in a publication, as a document of OPDS Progression.
///
/// Spec: https://drafts.opds.io/opds-progression-1.0
struct ProgressionDocument: Equatable {
    /// The reason why a document is refused, as a sentence.
    struct Problem: Error, Equatable {
        let message: String
    }

    static let mediaType = "application/opds-progression+json"
    static let bodyBytesMax = 16 << 10
    static let textCharactersMax = 500
    static let deviceNameCharactersMax = 200
    static let referencesMax = 50
    static let referenceCharactersMax = 2000
    /// The clock of a device may be ahead, or it may send a local time as UTC.
    private static let toleranceSeconds: Int64 = 600

    let title: String?
    let modified: Instant
    let deviceID: String
    let deviceName: String
    /// From 0 to 1.
    let progression: Double
    let references: [String]?

    init(
        title: String? = nil, modified: Instant, deviceID: String, deviceName: String,
        progression: Double, references: [String]? = nil
    ) {
        self.title = title
        self.modified = modified
        self.deviceID = deviceID
        self.deviceName = deviceName
        self.progression = progression
        self.references = references
    }

    /// - Parameter now: The time of the server, in seconds since the Unix epoch.
    init(_ body: [UInt8], now: UnixSeconds) throws(Problem) {
        guard let object = try? parseJSON(body), case .object = object else {
            throw Problem(message: "The body is not a JSON object.")
        }
        guard let modified = object["modified"]?.string.flatMap(Self.instant) else {
            throw Problem(message: "modified must be a date and time with an offset.")
        }
        guard modified.microseconds >= 0 else {
            throw Problem(message: "modified is before 1970.")
        }
        guard modified.microseconds <= (now + Self.toleranceSeconds) * 1_000_000 else {
            throw Problem(
                message:
                    "modified is more than 10 minutes in the future. Check the clock of the device."
            )
        }
        guard let progression = object["progression"]?.fraction else {
            throw Problem(message: "progression must be a number from 0 to 1.")
        }
        guard
            let deviceID = object["device"]?["id"]?.storableText(
                charactersMax: Self.textCharactersMax), Self.isURI(deviceID)
        else { throw Problem(message: "device.id must be a URI of at most 500 characters.") }
        guard
            let deviceName = object["device"]?["name"]?.storableText(
                charactersMax: Self.deviceNameCharactersMax),
            deviceName.contains(where: { !$0.isWhitespace })
        else { throw Problem(message: "device.name must have 1 to 200 characters.") }
        self.modified = modified
        self.progression = progression
        self.deviceID = deviceID
        self.deviceName = deviceName
        title = try Self.title(object["title"] ?? .null)
        references = try Self.references(object["references"] ?? .null)
    }

    private static func title(_ value: Value) throws(Problem) -> String? {
        if value.isNull { return nil }
        guard let title = value.storableText(charactersMax: textCharactersMax) else {
            throw Problem(message: "title must be a text of at most 500 characters.")
        }
        return title
    }

    private static func references(_ value: Value) throws(Problem) -> [String]? {
        if value.isNull { return nil }
        let texts = value.list?.compactMap {
            $0.storableText(charactersMax: referenceCharactersMax)
        }
        guard let texts, texts.count == value.list?.count, texts.count <= referencesMax else {
            throw Problem(
                message: "references must be at most 50 texts of at most 2,000 characters.")
        }
        return texts
    }

    /// Reads a time. The digits after the sixth of a fraction of a second are dropped, because some platforms write more.
    private static func instant(_ text: String) -> Instant? {
        if let instant = Instant(text) { return instant }
        guard let point = text.firstIndex(of: ".") else { return nil }
        let digits = text[text.index(after: point)...].prefix {
            $0.isASCII && $0.isNumber
        }
        return Instant(
            String(text[...point]) + String(digits.prefix(6)) + String(text[digits.endIndex...]))
    }

    /// Whether a text starts with a scheme, and has no spaces and control characters.
    private static func isURI(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), let first = text.first, first.isASCII,
            first.isLetter, text.index(after: colon) < text.endIndex
        else { return false }
        return text[..<colon].allSatisfy {
            $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0))
        } && text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
    }

    var json: Value {
        var members: [Value.Member] = []
        if let title { members.append(.init("title", .string(title))) }
        members += [
            .init("modified", .string(modified.preciseText)),
            .init(
                "device",
                .object([.init("id", .string(deviceID)), .init("name", .string(deviceName))])),
            .init("progression", .float(progression)),
        ]
        if let references {
            members.append(.init("references", .list(references.map { .string($0) })))
        }
        return .object(members)
    }

    /// The parameters of `put_progression`.
    func parameters(user: UUID, book: UUID) -> Parameters {
        var parameters = Parameters.of(user, book)
        parameters.append(float8: progression)
        parameters.append(timestamptz: modified.microseconds)
        parameters.append(text: deviceID)
        parameters.append(text: deviceName)
        parameters.append(text: title)
        if let references {
            parameters.append(texts: references)
        } else {
            parameters.appendNull(.inferred)
        }
        return parameters
    }
}
