import Config
import Glibc
import HTTPFetch
import ObjectStorage

/// Checks a bucket by storing, reading, listing, and removing a small object.
package struct S3Check {
    package enum Result: Sendable, Equatable {
        case usable
        /// The bucket cannot be used; carries the reason.
        case failed(String)
        /// The clocks of the service and of this machine differ by this number of seconds.
        case clockDiffers(seconds: Int)
        /// The public URL does not show the object; carries the reason.
        case notPublic(String)
    }

    /// The maximum difference of the clocks. S3 refuses signatures whose time differs by more than 15 minutes, so the
    /// operator is warned much earlier.
    private static let clockSecondsMax = 60

    /// - Returns: The first problem, or `usable`.
    package static func run(_ settings: Configuration.S3) async -> Result {
        do throws(ObjectError) {
            let client = try S3Client(settings)
            let name =
                "\(settings.prefix).probe-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))"
            let result: Result
            do throws(ObjectError) {
                result = try await check(client, name)
            } catch {
                // Do not leave the object in the bucket.
                try? await client.delete([name])
                throw error
            }
            try await client.delete([name])
            return result
        } catch {
            return .failed(error.description)
        }
    }

    private static func check(
        _ client: S3Client, _ name: String
    ) async throws(ObjectError) -> Result {
        let bytes = Array("probe".utf8)
        let put = try await client.send(
            .init(
                method: .put(body: bytes, contentType: "text/plain"), name: name,
                headers: client.checksumHeaders(bytes)), "storing an object")
        let read = try await client.send(.init(method: .get, name: name), "reading an object")
        guard read.body == bytes else { return .failed("a stored object has other contents") }
        guard try await client.list(name, after: nil).entries.count == 1 else {
            return .failed("a stored object is not listed")
        }
        if let date = put.header("Date").flatMap(unixSeconds(ofHTTPDate:)) {
            let seconds = Int(date) - time(nil)
            if abs(seconds) > clockSecondsMax { return .clockDiffers(seconds: seconds) }
        }
        guard let publicURL = client.settings.publicURL else { return .usable }
        return await publicResult("\(publicURL)/\(name)", bytes)
    }

    private static func publicResult(_ url: String, _ bytes: [UInt8]) async -> Result {
        do {
            let fetcher = Fetcher(
                policy: FetchPolicy(
                    userAgent: "bookplate",
                    allowed: try FetchAllowList(parsing: try WebURL(url).host)))
            let response = try await fetcher.fetch(FetchRequest(url: url))
            return response.body == bytes
                ? .usable : .notPublic("it responded with status \(response.status)")
        } catch let error as FetchError {
            return .notPublic("\(error)")
        } catch {
            return .notPublic("its host is invalid")
        }
    }
}
