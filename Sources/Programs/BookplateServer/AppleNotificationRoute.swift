import Bookplate
import GraphQLNIO
import Identity
import NIOCore
import Postgres
import Requests

/// The route `POST /apple/notifications`, to which Apple sends signed notifications about its accounts.
func appleNotificationRoute(_ services: Services, database: ConnectionPool) -> Route {
    Route(.POST, "/apple/notifications", bodyBytesMax: AppleNotification.bodyBytesMax) { request in
        if let client = request.client,
            let seconds = services.environment.secondsToWait(from: RateKey(client))
        {
            return HTTPResponse(.tooManyRequests, headers: [("Retry-After", "\(seconds)")])
        }
        let outcome = await AppleNotifications.receive(
            Array(request.body.readableBytesView), database: database, services: services,
            requestID: request.id)
        return switch outcome {
        case .accepted: HTTPResponse(.ok)
        case .refused: .text(.badRequest, "Send a signed notification as {\"payload\"}.\n")
        case .unavailable: HTTPResponse(.serviceUnavailable, headers: [("Retry-After", "60")])
        }
    }
}
