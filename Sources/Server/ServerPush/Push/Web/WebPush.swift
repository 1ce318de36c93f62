import JSON
import Outbound

/// Requests to the push services of browsers. RFC 8030; Spec: MSC4174.
struct WebPush: Sendable {
  /// How long a push service keeps what it cannot deliver: two days, as the proposal has it.
  static let timeToLiveSeconds = 172_800
  /// Of new numbers that a browser could not be told of yet only the last ones count. RFC 8030 §5.4.
  static let countsTopic = "counts"
  /// The longest that a push service may have us wait.
  private static let pauseSecondsLimit: Int64 = 24 * 60 * 60

  let key: VAPIDKey

  /// Returns an encrypted push; nil if the operator's settings no longer allow the pusher's subscription.
  func request(
    _ payload: [UInt8], isUrgent: Bool, topic: String?, to pusher: Pusher, _ gateways: PushGatewayAddresses, now: Int64
  ) -> OutgoingRequest? {
    guard let subscription = try? WebPushSubscription(pushkey: pusher.id.pushkey, data: pusher.data, gateways),
      let message = WebPushEncryption.encrypt(payload, for: subscription.keys),
      let authorization = key.authorization(for: subscription.url, now: now)
    else { return nil }
    var headers = [
      ("Content-Type", "application/octet-stream"), ("Content-Encoding", "aes128gcm"), ("Authorization", authorization),
      ("TTL", "\(Self.timeToLiveSeconds)"), ("Urgency", isUrgent ? "high" : "normal")
    ]
    if let topic { headers.append(("Topic", topic)) }
    return OutgoingRequest(
      "POST", url: subscription.url.string, headers: headers, body: message, timeout: PushDelivery.timeout,
      responseBytesLimit: PushDelivery.answerBytesLimit, destinations: subscription.destinations)
  }

  /// What the answer of a push service means. A redirect is a failure: it is not followed.
  static func outcome(of answer: IncomingResponse) -> PushDelivery.Outcome {
    switch answer.status {
    case 200..<300: .pushed
    // The subscription is gone, or is not this server's: its key is another one.
    case 403, 404, 410: .rejected
    // Less than every push service has to take: it will never take it, and what comes after it does not wait.
    case 413: .pushed
    default: .failed(afterMilliseconds: pause(answer))
    }
  }

  /// `Retry-After` in seconds. A push service that says a date is asked again when our own time comes.
  private static func pause(_ answer: IncomingResponse) -> Int64? {
    guard let seconds = answer.header("retry-after").flatMap({ Int64($0) }) else { return nil }
    return min(max(seconds, 0), pauseSecondsLimit) * 1_000
  }
}
