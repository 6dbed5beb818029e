/// The types of events that webhooks send, and the patterns that select them.
package enum WebhookEventType {
    static let accountDeleted = "account.deleted"
    /// The type of the messages of `bookplate-admin webhook test`.
    static let test = "webhook.test"

    /// All types that a webhook can receive, besides `test`. They are those of the SQL functions `change_event_type` and
    /// `cover_event_type`.
    package static let all: [String] =
        ["book", "shelf", "review", "read", "progress_entry", "note", "reading_goal"].flatMap {
            object in
            ["created", "updated", "deleted"].map { "\(object).\($0)" }
        } + ["person.updated"]
        + ["searching", "ready", "not_found", "failed", "removed"].map { "cover.\($0)" }
        + [accountDeleted]

    /// The maximum number of types and patterns of a webhook.
    package static let patternsMax = 50

    /// Returns whether a type or pattern selects at least one type: `*`, `book.*`, or `book.updated`.
    package static func isPattern(_ text: String) -> Bool {
        guard text.hasSuffix("*") else { return all.contains(text) }
        return text == "*" || text.hasSuffix(".*") && all.contains { $0.hasPrefix(text.dropLast()) }
    }
}
