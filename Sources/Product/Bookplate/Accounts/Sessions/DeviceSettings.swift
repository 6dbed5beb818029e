import GraphQL
import Postgres
import Requests

/// The settings of the device from which a reader signs in. The account takes those that it does not have yet. Values that the server
/// does not know are ignored, so that they prevent no sign-in.
struct DeviceSettings {
    /// The maximum length of a name. Longer ones are ignored.
    private static let charactersMax = 100
    /// The number of languages that are read, of which `ReaderLanguages.countMax` are kept.
    private static let languagesMax = 50

    /// The name of the device.
    let name: String?
    /// The languages of the argument `languages`, or else of the header `Accept-Language`.
    let languages: [String]
    private let timeZone: String?

    init(_ arguments: ArgumentValues, _ request: RequestContext) throws(BookplateError) {
        name = try DeviceName.read(arguments)
        let given = (arguments["languages"]?.list ?? []).prefix(Self.languagesMax)
        let known = ReaderLanguages.known(given.compactMap(\.string).filter(Self.isPlausible))
        languages = known.isEmpty ? ReaderLanguages.accepted(request.acceptLanguage) : known
        timeZone = arguments["timeZone"]?.string.flatMap { Self.isPlausible($0) ? $0 : nil }
    }

    /// Appends a statement that sets the time zone of the caller, if the device has named one and the account has none.
    func appendTimeZone(to pipeline: inout Pipeline) {
        guard let timeZone else { return }
        var parameters = Parameters()
        parameters.append(text: timeZone)
        pipeline.append(Self.lock)
        pipeline.append(Self.setTimeZone, parameters)
    }

    /// Other changes lock the user before the row, too.
    private static let lock = Statement(
        "SELECT lock_user(id) FROM users WHERE id = app_user_id() AND time_zone = 'UTC'")
    /// UTC is the time zone of accounts that have not chosen one.
    private static let setTimeZone = Statement(
        """
        UPDATE users
        SET time_zone = known.zone
        FROM zone_to_store($1) AS known (zone)
        WHERE id = app_user_id() AND time_zone = 'UTC' AND known.zone <> 'UTC'
        """)

    /// Whether a text can be a name of a time zone or a language.
    static func isPlausible(_ text: String) -> Bool {
        text.utf8.count <= charactersMax && !text.utf8.contains(0)
    }
}
