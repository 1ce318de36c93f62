import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// Telling the person of what comes while no page is open: the server pushes to the browser, where `Web/sw-push.js` shows it.
extension App {
  private var pushApplication: ByteString { "martlet.web" }

  /// Has the server push to this browser, where the person wants that. Asked at each start: browsers give subscriptions up, and
  /// servers pushers.
  /// - Parameter then: why it does not; nil where it does.
  func followPushes(_ then: @escaping (Strings.Key?) -> Void = { _ in }) {
    guard Host.setting(Settings.pushes) != nil, embedding == nil else { return }
    ask(.webPushKey) { [self] result in
      guard case .success(let offered) = result else { return then(.pushFailed) }
      guard let offered else { return then(.noWebPush) }
      Host.subscribe(key: offered.string) { [self] subscription in
        guard let subscription else { return then(.pushFailed) }
        // Switched off meanwhile.
        guard Host.setting(Settings.pushes) != nil else { return Host.unsubscribe() }
        Host.setSetting(Settings.pushes, subscription.key)
        ask(.setPusher(pusher(subscription))) { result in
          if case .success = result { then(nil) } else { then(.pushFailed) }
        }
      }
    }
  }

  /// One for a subscription that is no more goes with the first push that is refused.
  private func pusher(_ subscription: PushSubscription) -> Pusher {
    Pusher(
      key: ByteString(subscription.key), appID: pushApplication,
      kind: .webPush(url: ByteString(subscription.url), secret: ByteString(subscription.secret), sendsEventIDOnly: false),
      appDisplayName: ByteString(Strings[.product]), deviceDisplayName: ByteString(Host.browserName),
      language: ByteString(Host.language), extraData: subscription.mustShow ? Array(#"{"events_only":true}"#.utf8) : nil)
  }

  /// No more of it. The pusher of who signs out goes with the device.
  func endPushes() {
    guard let key = Host.setting(Settings.pushes) else { return }
    Host.setSetting(Settings.pushes, nil)
    Host.unsubscribe()
    if client.session != nil, !key.utf8.isEmpty { ask(.deletePusher(key: ByteString(key), appID: pushApplication)) { _ in } }
  }
}
