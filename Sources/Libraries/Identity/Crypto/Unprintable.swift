/// A value with secrets or personal data. Printing, dumping, or interpolating it shows only its type.
package protocol Unprintable: CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{}

extension Unprintable {
    package var description: String { "\(Self.self)(not shown)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension AppleTeamKey: Unprintable {}
extension AppleTokens: Unprintable {}
extension AppleNotification: Unprintable {}
extension DevelopmentIssuer: Unprintable {}
extension IdentityClaims: Unprintable {}
extension SealingKey: Unprintable {}
extension SessionKeys: Unprintable {}
extension VerificationKey: Unprintable {}
