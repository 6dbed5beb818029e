import Glibc

/// How many of the process's file descriptors connections and files may use.
///
/// The process must never use all of them: while a thread of Swift concurrency waits, the dispatch library opens a file in `/proc`
/// every second to see whether it needs more threads, and ends the process if it cannot.
package struct DescriptorShares {
    /// The number of descriptors for the database, the log, the listening sockets, requests to other servers, and connections that are
    /// refused.
    private static let reservedCount = 200

    package let connectionsMax: Int
    /// The maximum number of files that the routes of an event loop keep open for the next request.
    package let filesPerLoopMax: Int

    /// Raises the process's limit on descriptors to the maximum that the system allows, and shares it.
    ///
    /// - Parameter filesPerLoopMax: The number of files that the routes of each loop would keep open.
    package init(loopCount: Int, filesPerLoopMax: Int) {
        self.init(
            descriptorsMax: raiseDescriptorLimit(), loopCount: loopCount,
            filesPerLoopMax: filesPerLoopMax)
    }

    /// Shares the descriptors without the reserved ones, or half of all if there are few: at most a quarter for files that are kept open.
    /// A connection has a second descriptor for the file of its response.
    init(descriptorsMax: Int, loopCount: Int, filesPerLoopMax: Int) {
        let available = max(descriptorsMax - Self.reservedCount, descriptorsMax / 2)
        self.filesPerLoopMax = min(filesPerLoopMax, available / 4 / max(loopCount, 1))
        let descriptorsPerConnection = filesPerLoopMax > 0 ? 2 : 1
        connectionsMax = max(
            (available - self.filesPerLoopMax * loopCount) / descriptorsPerConnection, 1)
    }
}

private func raiseDescriptorLimit() -> Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return Int(clamping: limit.rlim_cur)
}
