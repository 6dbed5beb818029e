/// The app that sent a request, as it names itself. The names come from the client, so they may be used only for statistics.
package struct ClientApp: Sendable, Hashable {
    private static let bytesMax = 64

    /// Empty if the app has not sent it. The same applies to the version.
    package let name: String
    package let version: String

    /// Cuts the names to 64 characters, and replaces characters that names of apps do not need by `_`.
    package init(name: String? = nil, version: String? = nil) {
        self.name = Self.cleaned(name ?? "")
        self.version = Self.cleaned(version ?? "")
    }

    private static func cleaned(_ text: String) -> String {
        if text.utf8.count <= bytesMax, text.utf8.allSatisfy(isAllowed) { return text }
        let bytes = text.utf8.prefix(bytesMax).map { isAllowed($0) ? $0 : UInt8(ascii: "_") }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
            UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: " "):
            true
        default: false
        }
    }
}
