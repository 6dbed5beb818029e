import Glibc

/// Whether programs may print colors on a terminal: not if `NO_COLOR` is set, or if the terminal is `dumb`.
///
/// Specification: https://no-color.org
package func allowsColors() -> Bool {
    func value(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }
    return value("NO_COLOR").isEmpty && value("TERM") != "dumb"
}
