import FoundationEssentials
import Postgres

/// Who waits for a job.
package enum JobPriority: Int32, Sendable {
    /// A reader.
    case foreground = 0
    /// Nobody in particular: backfills, upkeep.
    case background = 10
}

extension Pipeline {
    /// Adds a job to the segment's transaction: it is there if and only if the rest is. Its row is the job's id.
    ///
    /// - Parameters:
    ///   - userID: whom the job is done for; it goes when they do. In a request, the caller or nil.
    ///   - key: names the work for that user. Where it waits already it is not added; where it is under
    ///     way it is done again, for it may have read before this transaction.
    ///   - delay: it does not start sooner.
    mutating func enqueue<Handler: JobHandler>(
        _ handler: Handler.Type, _ payload: Handler.Payload, for userID: Postgres.UUID?,
        key: String? = nil, after delay: Duration = .zero, priority: JobPriority = .foreground
    ) {
        guard let json = try? JSONEncoder().encode(payload) else {
            // Payloads are made of ids, numbers and texts, all of which have a JSON form.
            preconditionFailure("a payload of \(Handler.kind) has no JSON form")
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
}

private let enqueueJob = Statement("SELECT enqueue_job($1, $2, $3, $4, $5, $6, $7)")

extension Duration {
    /// Whole milliseconds.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
