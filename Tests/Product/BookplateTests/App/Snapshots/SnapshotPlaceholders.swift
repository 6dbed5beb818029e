import Bookplate
import GraphQL
import Identity
import Requests
import TestSupport

/// Replaces the values of a response that differ in each run.
struct SnapshotPlaceholders {
    /// The placeholders of known ids.
    let names: [String: String]
    private var ids: [String: Int] = [:]
    private let today = String(
        Instant(microseconds: unixSecondsNow() * 1_000_000).text.prefix(10))

    init(names: [String: String]) { self.names = names }

    /// - Parameter name: the name of the object member that has the value.
    mutating func replacing(_ value: Value, of name: String = "") -> Value {
        switch value {
        case .object(let members):
            return .object(
                members.map { .init($0.name, replacing($0.value, of: $0.name)) })
        case .list(let items):
            return .list(items.map { replacing($0) })
        case .int where name == "year":
            return "<year>"
        case .string(let text):
            switch name {
            case "cursor", "startCursor", "endCursor": return "<cursor>"
            case "accessToken", "refreshToken", "secret": return "<token>"
            case "lastCharacters": return "<characters>"
            case "startedOn" where text == today, "finishedOn" where text == today,
                "lastDay" where text == today:
                return "<today>"
            default: return .string(replacing(text))
            }
        default: return value
        }
    }

    private mutating func replacing(_ text: String) -> String {
        let uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/
        let time = /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/
        let export = /exports\/[A-Za-z0-9_-]+/
        let shared = /\/s\/[A-Za-z0-9_-]+/
        let known = text.replacing(time, with: "<time>").replacing(export, with: "exports/<token>")
            .replacing(shared, with: "/s/<token>")
        return known.replacing(uuid) { match in
            let id = String(match.0)
            if let name = names[id] { return name }
            let number = ids[id] ?? ids.count + 1
            ids[id] = number
            return "<id \(number)>"
        }
    }
}
