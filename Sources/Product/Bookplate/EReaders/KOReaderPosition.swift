import GraphQL
import Requests

/// A position in a document, as KOReader sends it.
///
/// Spec: `update_progress` in koreader/plugins/kosync.koplugin/api.json, and app/controllers/1/syncs_controller.lua of
/// koreader/koreader-sync-server.
struct KOReaderPosition: Equatable {
    /// The reason why a body is refused.
    enum Problem: Error, Equatable {
        case notJSON, notAnObject
        /// `document` is missing, or has characters that the path of a later request cannot contain.
        case noDocument, unusableDocument
        case invalidFields
    }

    static let bodyBytesMax = 16 << 10
    static let hashCharactersMax = 128
    static let progressCharactersMax = 4000
    static let deviceCharactersMax = 200
    static let titleCharactersMax = 500

    let document: String
    /// The position in the notation of the device. It is returned unchanged.
    let progress: String
    let fraction: Double
    let device: String
    let deviceID: String?
    let title: String?
    let author: String?

    init(_ body: [UInt8]) throws(Problem) {
        guard let object = try? parseJSON(body) else { throw .notJSON }
        guard case .object = object else { throw .notAnObject }
        guard let document = object["document"]?.string, !document.isEmpty,
            !document.utf8.contains(UInt8(ascii: ":"))
        else { throw .noDocument }
        guard Self.isDocument(document) else { throw .unusableDocument }
        self.document = document
        guard let fraction = Self.fraction(object["percentage"]),
            let progress = Self.required(object["progress"], Self.progressCharactersMax),
            let device = Self.required(object["device"], Self.deviceCharactersMax)
        else { throw .invalidFields }
        self.fraction = fraction
        self.progress = progress
        self.device = device
        let deviceID = object["device_id"] ?? .null
        self.deviceID = Self.text(deviceID, Self.deviceCharactersMax)
        guard deviceID.isNull || self.deviceID != nil else { throw .invalidFields }
        // A document without usable metadata is synchronized anyway.
        let metadata = object["metadata"]
        title =
            Self.line(metadata?["title"], separator: " ")
            ?? Self.line(metadata?["filename"], separator: " ")
        author = Self.line(metadata?["authors"], separator: ", ")
    }

    /// Whether a text can be the hash of a document: letters, digits, and underscores, as the server of KOReader requires.
    static func isDocument(_ text: some StringProtocol) -> Bool {
        (1...hashCharactersMax).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// Some clients send the number as a text.
    private static func fraction(_ value: Value?) -> Double? {
        if let text = value?.string {
            return Double(text).flatMap { Value.float($0).fraction }
        }
        return value?.fraction
    }

    /// Returns a text. KOReader sends texts, also for page numbers; other clients send numbers.
    private static func text(_ value: Value?, _ charactersMax: Int) -> String? {
        switch value {
        case .int(let number): String(number)
        case .bigInt(let digits): Value.string(digits).storableText(charactersMax: charactersMax)
        // A page number is a whole number, also if the client computes with fractions.
        case .float(let number): Int(exactly: number).map { String($0) } ?? String(number)
        default: value?.storableText(charactersMax: charactersMax)
        }
    }

    private static func required(_ value: Value?, _ charactersMax: Int) -> String? {
        text(value, charactersMax).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns a text on one line, shortened to the maximum; nil if nothing is left.
    private static func line(_ value: Value?, separator: String) -> String? {
        guard let text = value?.string else { return nil }
        let line = text.split(whereSeparator: \.isNewline).joined(separator: separator)
        let shortened = String(
            String.UnicodeScalarView(
                line.unicodeScalars.filter { $0 != "\0" }.prefix(titleCharactersMax)))
        return
            (try? TextInput.optional(
                shortened, field: "title", charactersMax: titleCharactersMax)) ?? nil
    }
}
