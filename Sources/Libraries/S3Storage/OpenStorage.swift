import Config
import ObjectStorage
import Telemetry

extension Configuration.Storage {
    /// Opens the store. A missing folder is created. A bucket is not contacted.
    ///
    /// - Parameters:
    ///   - leases: The leases of writes to a bucket.
    ///   - metrics: Get the metrics of requests to a bucket.
    ///   - timeout: The maximum time to read, write, or remove a version in a bucket, with all attempts. Listings and the removal
    ///     of many objects may take longer.
    package func open(
        leases: any WriteLeases, metrics: Metrics? = nil, timeout: Duration = .seconds(120)
    ) throws(ObjectError) -> any ObjectStore {
        switch self {
        case .folder(let path): try FileStore(path)
        case .s3(let settings):
            try S3Store(settings, leases: leases, metrics: metrics, timeout: timeout)
        }
    }
}
