import Glibc
import HTTPServer
import JSON

extension CallServer {
  /// `POST /session/create`: a form with `p2p.preference` (`enabled`: between the peers; `disabled`, the default: through our router), `archiveMode`,
  /// `location` and `e2ee`, of which the last two change nothing here.
  nonisolated func createSession(_ request: RESTRequest) async throws -> Response {
    let form = try await request.form()
    guard let isRelayed = ["enabled": true, "disabled": false][form["p2p.preference"] ?? "disabled"] else {
      throw RESTError.invalid("p2p.preference is enabled or disabled.")
    }
    guard let isAlwaysRecorded = ["manual": false, "always": true][form["archiveMode"] ?? "manual"] else {
      throw RESTError.invalid("archiveMode is manual or always.")
    }
    guard !isAlwaysRecorded || !isRelayed else {
      throw RESTError.invalid("Only a session whose media goes through this server is recorded.")
    }
    let session = try await sessions.create(of: request.project, isRouted: !isRelayed, isAlwaysRecorded: isAlwaysRecorded)
    let wantsJSON = request.http.headers["Accept"]?.contains("json") ?? false
    return wantsJSON ? Self.json(session) : Self.xml(session)
  }

  private static func json(_ session: CallSessions.Session) -> Response {
    var writer = JSONWriter()
    writer.array { writer in
      writer.object { writer in
        writer.member("session_id", session.id)
        writer.member("project_id", session.project)
        writer.member("partner_id", session.project)
        writer.member("create_dt", date(session.created))
        writer.member("media_server_url", "")
      }
    }
    return .json(writer.bytes)
  }

  /// As SDKs of before 2016 read it. No name in it has a character that XML would want escaped.
  private static func xml(_ session: CallSessions.Session) -> Response {
    let text =
      "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?><sessions><Session><session_id>\(session.id)</session_id>"
      + "<partner_id>\(session.project)</partner_id><create_dt>\(date(session.created))</create_dt></Session></sessions>"
    return Response(headers: ["Content-Type": "application/xml"], body: .bytes(Array(text.utf8)))
  }

  /// `Sun Nov 22 19:20:05 UTC 2026`.
  private static func date(_ milliseconds: Int64) -> String {
    var seconds = time_t(milliseconds / 1_000)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    var text = [CChar](repeating: 0, count: 64)
    let count = strftime(&text, text.count, "%a %b %d %H:%M:%S UTC %Y", &parts)
    return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
