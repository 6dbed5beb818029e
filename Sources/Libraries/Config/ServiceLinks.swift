/// The variables that Kubernetes adds to every container of a namespace, for each Service in it.
///
/// A Service named `bookplate` adds variables that look like settings: `BOOKPLATE_SERVICE_HOST`,
/// `BOOKPLATE_SERVICE_PORT`, `BOOKPLATE_SERVICE_PORT_HTTP`, `BOOKPLATE_PORT=tcp://10.0.0.1:8080`,
/// `BOOKPLATE_PORT_8080_TCP`, and the last one with `_ADDR`, `_PORT`, and `_PROTO`. A Service named `bookplate-web` adds
/// the same with `BOOKPLATE_WEB` in place of `BOOKPLATE`.
///
/// See https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
enum ServiceLinks {
    private static let protocols: Set<Substring> = ["TCP", "UDP", "SCTP"]

    /// Whether Kubernetes adds a variable with this name and value.
    static func contain(_ name: String, _ value: String) -> Bool {
        guard name.hasPrefix(Variables.prefix) else { return false }
        if name.hasSuffix("_SERVICE_HOST") || name.hasSuffix("_SERVICE_PORT")
            || name.contains("_SERVICE_PORT_")
        {
            return true
        }
        if name.hasSuffix("_PORT"), isAddress(value) { return true }
        return isPort(name)
    }

    /// Matches values such as `tcp://10.0.0.1:8080`.
    private static func isAddress(_ value: String) -> Bool {
        protocols.contains { value.hasPrefix($0.lowercased() + "://") }
    }

    /// Matches `…_PORT_8080_TCP`, also with the suffix `_ADDR`, `_PORT`, or `_PROTO`.
    private static func isPort(_ name: String) -> Bool {
        var words = name.split(separator: "_")[...]
        if let last = words.last, ["ADDR", "PORT", "PROTO"].contains(last) { words.removeLast() }
        guard let transport = words.popLast(), protocols.contains(transport),
            let number = words.popLast(), number.allSatisfy(\.isNumber)
        else { return false }
        return words.last == "PORT"
    }
}
