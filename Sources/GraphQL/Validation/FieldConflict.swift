/// Two fields of one response key, and why they cannot both be there.
struct FieldConflict {
    indirect enum Reason {
        case plain(String)
        case subfields([(responseKey: String, reason: Reason)])

        var text: String {
            switch self {
            case .plain(let text):
                text
            case .subfields(let conflicts):
                conflicts.map {
                    "subfields \"\($0.responseKey)\" conflict because \($0.reason.text)"
                }.joined(separator: " and ")
            }
        }
    }

    let responseKey: String
    let reason: Reason
    let left: [SourceRange]
    let right: [SourceRange]
}
