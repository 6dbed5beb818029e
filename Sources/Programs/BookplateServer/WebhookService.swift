import Bookplate
import ServiceLifecycle

/// Collects the events of webhooks until the server stops. Jobs send them.
struct WebhookService: Service {
    let dispatcher: WebhookDispatcher

    func run() async {
        await cancelWhenGracefulShutdown { await dispatcher.run() }
    }
}
