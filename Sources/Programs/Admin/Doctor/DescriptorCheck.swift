import Glibc

/// Checks the limit on open files. The server raises its own limit to the maximum, which a service manager can set.
enum DescriptorCheck {
    private static let check = "descriptors"
    /// Enough for about a thousand connections beside those of the database.
    private static let descriptorsMin = 4096

    static func result() -> CheckResult {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            return .skipped(check, "the limit on open files is not known")
        }
        let count = Int(clamping: limit.rlim_max)
        return count < descriptorsMin
            ? .warning(
                check, "programs may open only \(count) files and connections here",
                "raise the limit of the server, such as LimitNOFILE=65536 in its unit")
            : .ok(check, "programs may open \(count) files and connections here")
    }
}
