import Config
import Glibc

/// Colors of the output. They are used only if standard output is a terminal that allows them.
enum Terminal {
    enum Style: Int {
        case bold = 1
        case red = 31
        case green = 32
        case yellow = 33
    }

    /// Whether standard output is a terminal.
    static let isOutput = isatty(STDOUT_FILENO) == 1
    private static let hasColors = isOutput && allowsColors()

    static func styled(
        _ text: String, _ style: Style, hasColors: Bool = Terminal.hasColors
    ) -> String {
        hasColors ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }
}
