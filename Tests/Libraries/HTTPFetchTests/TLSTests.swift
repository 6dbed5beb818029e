import Foundation
import LoopbackHTTP
import Testing

@testable import HTTPFetch

private let openssl = "/usr/bin/openssl"

@Suite struct TLSTests {
    /// The certificate is self-signed and served by OpenSSL's test server. It is accepted only where it is an authority.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: openssl)))
    func checksCertificates() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let key = folder.appending(path: "key.pem").path
        let certificate = folder.appending(path: "certificate.pem").path
        let maker = try run([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
            "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
        ])
        maker.waitUntilExit()
        #expect(maker.terminationStatus == 0)

        let port = try ReservedPort().port  // released here, for the server
        let server = try run([
            "s_server", "-quiet", "-www", "-accept", "127.0.0.1:\(port)", "-key", key, "-cert",
            certificate,
        ])
        defer { server.terminate() }

        let fetcher = Fetcher(
            policy: FetchPolicy(
                userAgent: "test", allowed: try FetchAllowList(parsing: "localhost")))
        var found: FetchError?
        for _ in 0..<400 {
            do throws(FetchError) {
                _ = try await fetcher.fetch(FetchRequest(url: "https://localhost:\(port)/"))
                found = nil
            } catch { found = error }
            if found != .connectionFailed { break }  // the server accepts connections
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(found == .tlsFailed)

        var policy = FetchPolicy(
            userAgent: "test", allowed: try FetchAllowList(parsing: "localhost"))
        policy.authoritiesFile = certificate
        policy.readsCertificates = true
        let response = try await Fetcher(policy: policy).fetch(
            FetchRequest(url: "https://localhost:\(port)/"))
        let expiry = try #require(response.certificateExpiry)
        let left = Double(expiry) - Date().timeIntervalSince1970
        #expect((1.9 * 86_400...2.1 * 86_400).contains(left))
    }

    private func run(_ arguments: [String]) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: openssl)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }
}
