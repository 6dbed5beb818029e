import FoundationEssentials
import Postgres

/// The priority of a job. Due jobs of a lower value run first.
package enum JobPriority: Int32, Sendable {
    /// A user waits for the result.
    case foreground = 0
    /// Backfills and maintenance.
    case background = 10
}

extension Pipeline {
    /// Adds a job in the pipeline's transaction, so that the job exists only if the transaction commits. The statement
    /// returns the job's id.
    ///
    /// - Parameters:
    ///   - userID: The user that the job belongs to; nil for none. A request can pass only its caller. Deleting the user deletes
    ///     the job.
    ///   - key: Identifies the work for that user. If a job with the same kind, user, and key is waiting, no job is added, and
    ///     that job has all of its attempts again. If one is running, it runs again afterwards, because it may have read its rows before
    ///     this transaction.
    ///   - delay: The minimum delay before the job starts.
    package mutating func enqueue<Handler: JobHandler>(
        _ handler: Handler.Type, _ payload: Handler.Payload, for userID: Postgres.UUID?,
        key: String? = nil, after delay: Duration = .zero, priority: JobPriority = .foreground
    ) {
        guard let json = try? JSONEncoder().encode(payload) else {
            // Payloads consist of ids, numbers, and texts, which JSON can represent.
            preconditionFailure("The payload of a \(Handler.kind) job cannot be encoded as JSON.")
        }
        var parameters = Parameters()
        parameters.append(uuid: userID)
        parameters.append(text: Handler.kind)
        parameters.append(jsonb: json)
        parameters.append(text: key)
        parameters.append(int64: delay.milliseconds)
        parameters.append(int32: priority.rawValue)
        parameters.append(int32: Int32(clamping: Handler.settings.attemptsMax))
        append(enqueueJob, parameters)
        if delay <= .zero { notify(JobWorker.channel, Handler.kind) }
    }

    /// Adds several jobs of one kind with one statement. See `enqueue`.
    ///
    /// - Parameter jobs: The payloads with their keys.
    package mutating func enqueue<Handler: JobHandler>(
        _ handler: Handler.Type, each jobs: [(payload: Handler.Payload, key: String)],
        for userID: Postgres.UUID?
    ) {
        guard !jobs.isEmpty else { return }
        guard let json = try? JSONEncoder().encode(jobs.map(\.payload)) else {
            // Payloads consist of ids, numbers, and texts, which JSON can represent.
            preconditionFailure("The payloads of \(Handler.kind) jobs cannot be encoded as JSON.")
        }
        var parameters = Parameters()
        parameters.append(uuid: userID)
        parameters.append(text: Handler.kind)
        parameters.append(jsonb: json)
        parameters.append(texts: jobs.map(\.key))
        parameters.append(int32: JobPriority.foreground.rawValue)
        parameters.append(int32: Int32(clamping: Handler.settings.attemptsMax))
        append(enqueueJobs, parameters)
        notify(JobWorker.channel, Handler.kind)
    }
}

private let enqueueJobs = Statement(
    """
    SELECT enqueue_job($1, $2, job.payload, job.key, 0, $5, $6)
    FROM ROWS FROM (jsonb_array_elements($3), unnest($4::text[])) AS job (payload, key)
    """)

private let enqueueJob = Statement("SELECT enqueue_job($1, $2, $3, $4, $5, $6, $7)")
