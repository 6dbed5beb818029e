/// Returns a text in which the credentials of URLs are replaced with `***`, for logs, the audit log, and messages: the user name and
/// password before the host, and the values of parameters whose names contain a word such as `token` or `password`.
///
/// For example, `https://ada:pw@host/x?api_key=1&n=2` becomes `https://***@host/x?api_key=***&n=2`. If a password contains
/// characters that it may not, such as a slash, too much is replaced rather than too little.
package func redactingCredentials(_ text: String) -> String {
    var result = ""
    var word = Substring()
    func endWord() {
        result += redactingParameters(redactingUserInfo(word))
        word = Substring()
    }
    for character in text {
        if character.isWhitespace {
            endWord()
            result.append(character)
        } else {
            word.append(character)
        }
    }
    endWord()
    return result
}

/// - Parameter word: A text without whitespace, which may contain a URL.
private func redactingUserInfo(_ word: Substring) -> Substring {
    guard let start = word.firstRange(of: "://")?.upperBound else { return word }
    let rest = word[start...]
    let authorityEnd = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
    let authority = rest[..<authorityEnd]
    var at = authority.lastIndex(of: "@")
    // What follows the colon is a part of a password unless it is a port, or an IPv6 address in brackets precedes it.
    if at == nil, !authority.hasPrefix("["), let colon = authority.firstIndex(of: ":"),
        !authority[colon...].dropFirst().allSatisfy(\.isNumber)
    {
        at = rest.lastIndex(of: "@")
    }
    return at.map { word[..<start] + "***" + rest[$0...] } ?? word
}

/// Parts of the names of parameters with secret values.
private let secretNames = [
    "token", "password", "passwd", "secret", "signature", "credential", "apikey", "api_key",
    "api-key", "access_key", "accesskey",
]

private func redactingParameters(_ word: Substring) -> Substring {
    var result = Substring()
    var rest = word
    while let equals = rest.firstIndex(of: "=") {
        let before = rest[..<equals]
        let name = before.split(
            omittingEmptySubsequences: false, whereSeparator: { "?&;#".contains($0) }
        ).last?.lowercased()
        result += rest[...equals]
        rest = rest[rest.index(after: equals)...]
        guard let name, secretNames.contains(where: { name.contains($0) }) else { continue }
        let end = rest.firstIndex { "&;#".contains($0) } ?? rest.endIndex
        if end > rest.startIndex { result += "***" }
        rest = rest[end...]
    }
    return result + rest
}
