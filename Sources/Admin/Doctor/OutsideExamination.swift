import BookSources
import Config
import HTTPFetch
import MQTT

/// Whom the server asks outside. Any answer will do: that it is reachable is the question.
enum OutsideExamination {
    private static let deadline = Duration.seconds(5)

    static func findings(_ configuration: Configuration, isOffline: Bool) async -> [Finding] {
        let sources = configuration.sources
        let places: [(String, String?)] = [
            ("Apple's keys", configuration.identity.appleJWKSURL),
            ("Open Library", sources.openLibraryURL),
            ("Open Library's covers", sources.openLibraryCoversURL),
            ("Google Books", sources.googleBooksURL),
            ("ISBNdb", sources.isbnDBURL),
            ("OpenAI's search of the web", sources.openAIKey == nil ? nil : sources.openAIURL),
        ]
        let allowed: FetchAllowList
        do throws(FetchAllowList.InvalidEntry) {
            // Where the settings themselves lead may be private; readers' addresses may not.
            let hosts = places.compactMap { $0.1.map(host) }
            allowed = try FetchAllowList(
                parsing: (sources.fetchAllow + hosts).joined(separator: ","))
        } catch {
            return [
                .wrong(
                    "configuration", "BOOKPLATE_FETCH_ALLOW has '\(error.text)'",
                    "write hosts, addresses and networks with commas between them")
            ]
        }
        let fetcher = Fetcher(policy: FetchPolicy(userAgent: "bookplate", allowed: allowed))
        return await withTaskGroup(of: (Int, Finding).self) { group in
            for (index, (name, url)) in places.enumerated() {
                group.addTask {
                    guard let url else { return (index, .skipped(name, "switched off")) }
                    if isOffline { return (index, .skipped(name, "not asked")) }
                    let finding = await finding(name, url, fetcher)
                    return (index, finding)
                }
            }
            group.addTask {
                guard let broker = sources.broker else {
                    return (places.count, .skipped("broker", "switched off"))
                }
                if isOffline { return (places.count, .skipped("broker", "not asked")) }
                let finding = await finding(broker)
                return (places.count, finding)
            }
            var findings: [(Int, Finding)] = []
            for await finding in group { findings.append(finding) }
            return findings.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private static func finding(_ broker: Configuration.Broker) async -> Finding {
        let address = BrokerAddress(
            host: broker.host, port: broker.port, isEncrypted: broker.isEncrypted,
            user: broker.user, password: broker.password,
            certificatesFile: broker.certificatesFile)
        do throws(BrokerError) {
            let connection = try await BrokerConnection.connect(
                to: address, clientID: "bookplate-doctor", timeout: deadline)
            await connection.close()
            return .ok("broker", "takes us at \(address)")
        } catch .refused(let reason) {
            return .wrong(
                "broker", "\(address) refuses us (\(reason))",
                "mend the user and the password in BOOKPLATE_MQTT_URL")
        } catch {
            return .warning(
                "broker", "\(address): \(error)",
                "look at the broker; events wait in the database until it is back")
        }
    }

    private static func finding(_ name: String, _ url: String, _ fetcher: Fetcher) async -> Finding
    {
        do throws(FetchError) {
            let answer = try await fetcher.fetch(FetchRequest(url: url, deadline: deadline))
            return .ok(name, "answers at \(url) (status \(answer.status))")
        } catch .tooLarge {
            return .ok(name, "answers at \(url)")
        } catch {
            return .warning(
                name, "\(url) cannot be reached (\(error))",
                "look at the network; what needs it waits or says so")
        }
    }
}
