import Requests
import ServiceLifecycle

/// Shares the rate limits of heavy callers with the other servers.
struct RateSharingService: Service {
    let sharing: RateSharing

    func run() async {
        await cancelWhenGracefulShutdown { await sharing.run() }
    }
}
