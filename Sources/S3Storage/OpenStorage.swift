import Config
import ObjectStorage
import Telemetry

extension Configuration.Storage {
    /// Opens the store. A missing folder is created. A bucket is not contacted.
    ///
    /// - Parameters:
    ///   - leases: The leases of writes to a bucket.
    ///   - metrics: Get the metrics of requests to a bucket.
    package func open(
        leases: any WriteLeases, metrics: Metrics? = nil
    ) throws(ObjectError) -> any ObjectStore {
        switch self {
        case .folder(let path): try FileStore(path)
        case .s3(let settings): try S3Store(settings, leases: leases, metrics: metrics)
        }
    }
}
