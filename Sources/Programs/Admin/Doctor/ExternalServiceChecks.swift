import BookSources
import Config
import HTTPFetch
import MQTT

/// Checks that external services can be reached. A response with any status is a success.
enum ExternalServiceChecks {
    private static let deadline = Duration.seconds(5)

    static func results(_ configuration: Configuration, isOffline: Bool) async -> [CheckResult] {
        let sources = configuration.sources
        let services: [(name: String, url: String?)] = [
            ("Apple's keys", configuration.identity.appleJWKSURL),
            ("Open Library", sources.openLibraryURL),
            ("Open Library's covers", sources.openLibraryCoversURL),
            ("Google Books", sources.googleBooksURL),
            ("ISBNdb", sources.isbnDBURL),
            ("OpenAI's web search", sources.openAIKey == nil ? nil : sources.openAIURL),
        ]
        let allowed: FetchAllowList
        do throws(FetchAllowList.InvalidEntry) {
            // Hosts in the configuration may be private.
            let hosts = services.compactMap { $0.url.map(host) }
            allowed = try FetchAllowList(
                parsing: (sources.fetchAllow + hosts).joined(separator: ","))
        } catch {
            return [
                .wrong(
                    "configuration", "BOOKPLATE_FETCH_ALLOW has the invalid entry '\(error.text)'",
                    "use a comma-separated list of hosts, addresses, and networks")
            ]
        }
        let fetcher = Fetcher(policy: FetchPolicy(userAgent: "bookplate", allowed: allowed))
        return await withTaskGroup(of: (Int, CheckResult).self) { group in
            for (index, (name, url)) in services.enumerated() {
                group.addTask {
                    guard let url else { return (index, .skipped(name, "switched off")) }
                    if isOffline { return (index, .skipped(name, "not checked (--offline)")) }
                    let result = await result(name, url, fetcher)
                    return (index, result)
                }
            }
            group.addTask {
                guard let broker = sources.broker else {
                    return (services.count, .skipped("broker", "switched off"))
                }
                if isOffline {
                    return (services.count, .skipped("broker", "not checked (--offline)"))
                }
                let result = await result(broker)
                return (services.count, result)
            }
            var results: [(Int, CheckResult)] = []
            for await result in group { results.append(result) }
            return results.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private static func result(_ broker: Configuration.Broker) async -> CheckResult {
        let address = BrokerAddress(
            host: broker.host, port: broker.port, isEncrypted: broker.isEncrypted,
            user: broker.user, password: broker.password,
            certificatesFile: broker.certificatesFile)
        do throws(BrokerError) {
            let connection = try await BrokerConnection.connect(
                to: address, clientID: "bookplate-doctor", timeout: deadline)
            await connection.close()
            return .ok("broker", "accepts connections at \(address)")
        } catch .refused(let reason) {
            return .wrong(
                "broker", "\(address) refuses the connection (\(reason))",
                "correct the user and the password in BOOKPLATE_MQTT_URL")
        } catch {
            return .warning(
                "broker", "\(address): \(error)",
                "check the broker; events stay in the database until it is available again")
        }
    }

    private static func result(_ name: String, _ url: String, _ fetcher: Fetcher) async
        -> CheckResult
    {
        do throws(FetchError) {
            let response = try await fetcher.fetch(FetchRequest(url: url, deadline: deadline))
            return .ok(name, "responds at \(url) (status \(response.status))")
        } catch .tooLarge {
            return .ok(name, "responds at \(url)")
        } catch {
            return .warning(
                name, "\(url) cannot be reached (\(error))",
                "check the network; features that need the service wait or report errors")
        }
    }
}
