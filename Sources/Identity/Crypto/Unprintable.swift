/// A value with a secret or personal data in it, which shows its type and nothing else wherever it is printed, dumped or
/// interpolated into a log line.
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
