import Postgres

extension RequestContext {
    /// Runs statements that need no caller, such as those of a sign-in.
    ///
    /// - Parameter fill: Appends the statements and returns the keys of the results to read, in any form.
    func anonymous<Keys>(
        _ fill: (inout Pipeline) -> Keys
    ) async throws(BookplateError) -> (results: PipelineResults, keys: Keys) {
        var pipeline = Pipeline(statistics: statistics)
        let keys = fill(&pipeline)
        let filled = pipeline
        let rows: [Rows] = try await anonymous { $0 = filled }
        return (PipelineResults(rows), keys)
    }

    /// Runs statements that need no caller, such as those of a sign-in.
    ///
    /// - Parameter fill: Appends the statements and returns the key of the only result to read.
    /// - Returns: The decoded rows of that result.
    func anonymous<Row>(
        _ fill: (inout Pipeline) -> ResultKey<Row>
    ) async throws(BookplateError) -> [Row] {
        var pipeline = Pipeline(statistics: statistics)
        let key = fill(&pipeline)
        let filled = pipeline
        let rows: [Rows] = try await anonymous { $0 = filled }
        return PipelineResults(rows)[key]
    }
}
