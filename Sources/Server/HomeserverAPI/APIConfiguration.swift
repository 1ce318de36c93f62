import ServerAccounts
import ServerCore

/// What an operator decides about the HTTP side.
package struct APIConfiguration: Sendable {
  /// Whether clients are held to `RateLimiter`'s budgets.
  package var rateLimits = true
  /// The folder of the web client (`index.html` and what it loads); nil serves none.
  package var webDirectory: String?
  /// The page's program, served as `/app.wasm`; nil takes it from `webDirectory`.
  package var webProgram: String?
  /// The origins whose pages may show the messenger in a frame.
  package var embedOrigins: [WebOrigin] = []
  /// Where clients reach this server (`https://matrix.example.org`), for `.well-known`; nil answers with what the
  /// request itself says in `Host`.
  package var publicBaseURL: String?
  /// Answered at `/.well-known/matrix/support`.
  package var support = SupportContacts()
  /// Where other servers reach this one (`matrix.example.org:443`), for `/.well-known/matrix/server`; nil where its name says so.
  package var delegatedServer: String?
  /// Which new rooms clients encrypt, unless the user decides otherwise.
  package var newRoomEncryption = NewRoomEncryption.inviteOnly
  /// The operator's token, with the rights of an administrator. It is made at each start, kept in memory only, and known to
  /// nobody outside the process. nil if there is no such access.
  package var operatorKey: AccessToken?

  /// The version of the program, as administrators see it.
  package var version = ""
  /// The durations of requests. The HTTP server records them.
  package var requestTimes = RequestTimes()

  /// Watches the room for what clients want to store. The default always has room.
  package var disk = DiskSpace(measure: { nil })

  package init() {}
}
