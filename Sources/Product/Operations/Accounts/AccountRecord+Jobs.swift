import Glibc
import Postgres

extension AccountRecord {
    /// The time between two queries while the process waits for jobs.
    private static let jobPollMilliseconds = 200

    /// Waits for jobs, such as those that `delete` returns. Blocks the thread.
    ///
    /// - Parameter seconds: The maximum time to wait.
    /// - Returns: The number of jobs that have not finished.
    package static func wait(
        for jobs: [UUID], atMost seconds: Int, _ connection: AdminConnection
    ) throws(AdministrationError) -> Int {
        var left = jobs.count
        for _ in 0..<(seconds * 1000 / jobPollMilliseconds) where left > 0 {
            usleep(UInt32(jobPollMilliseconds) * 1000)
            left = try unfinished(jobs, connection)
        }
        return left
    }
}
