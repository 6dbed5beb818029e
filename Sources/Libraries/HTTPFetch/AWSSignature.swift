/// The credentials with which libcurl signs a request (AWS Signature Version 4). Compatible servers of other vendors use the
/// same signature.
///
/// libcurl signs the path and the query as they are. The path may have only unreserved characters and slashes, and the
/// parameters of the query must be sorted and have a `=` each. The header `x-amz-content-sha256` must be set.
package struct AWSSignature: Sendable {
    package var region: String
    /// The name of the service, such as `s3`.
    package var service: String
    package var accessKeyID: String
    package var secretAccessKey: String

    package init(
        region: String, service: String, accessKeyID: String, secretAccessKey: String
    ) {
        self.region = region
        self.service = service
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
    }
}
