/// Spec: https://spec.graphql.org/September2025/#Token
enum TokenKind: UInt8 {
    case startOfFile, endOfFile
    case bang, dollar, ampersand, spread, colon, equals, at, pipe
    case leftParenthesis, rightParenthesis, leftBracket, rightBracket, leftBrace, rightBrace
    case name, int, float, string, blockString

    /// As it reads in a syntax error.
    var description: String {
        switch self {
        case .startOfFile: "<SOF>"
        case .endOfFile: "<EOF>"
        case .bang: "\"!\""
        case .dollar: "\"$\""
        case .ampersand: "\"&\""
        case .spread: "\"...\""
        case .colon: "\":\""
        case .equals: "\"=\""
        case .at: "\"@\""
        case .pipe: "\"|\""
        case .leftParenthesis: "\"(\""
        case .rightParenthesis: "\")\""
        case .leftBracket: "\"[\""
        case .rightBracket: "\"]\""
        case .leftBrace: "\"{\""
        case .rightBrace: "\"}\""
        case .name: "Name"
        case .int: "Int"
        case .float: "Float"
        case .string: "String"
        case .blockString: "BlockString"
        }
    }
}
