import HTTPServer
import MatrixModel
import ServerAccounts

/// A page for people whose browser was sent here: words and at most a few things to press. Nothing runs in it, nothing comes from
/// elsewhere, nobody else may frame it.
struct Page: Sendable {
  /// Something to press.
  enum Action: Sendable {
    /// A change, by POST to a path of ours with its query; the answer may lead on to `leadsTo`.
    case button(String, path: String, leadsTo: WebOrigin?)
    case link(String, url: String)
  }

  let title: String
  var paragraphs: [String] = []
  var actions: [Action] = []
  /// Whether the app that opened the page is told that it is done. Spec: Client-Server API, "Fallback".
  var tellsOpener = false

  static let stylePath = "/_matrix/client/unstable/martlet.pages/page.css"
  static let scriptPath = "/_matrix/client/unstable/martlet.pages/done.js"

  func response(status: Status = .ok) -> Response {
    var targets = ["'self'"]
    for case .button(_, _, let origin?) in actions { targets.append(origin.description) }
    let policy = [
      "default-src 'none'", "style-src 'self'", tellsOpener ? "script-src 'self'" : "script-src 'none'",
      "form-action " + targets.joined(separator: " "), "base-uri 'none'",
      "frame-ancestors 'none'"
    ].joined(separator: "; ")
    return Response(
      status: status,
      headers: [
        "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy, "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"
      ], body: .bytes(Array(html.utf8)))
  }

  private var html: String {
    let head =
      "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">"
      + "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>\(Self.escape(title))</title>"
      + "<link rel=\"stylesheet\" href=\"\(Self.stylePath)\"></head><body><main><h1>\(Self.escape(title))</h1>"
    let script = tellsOpener ? "<script src=\"\(Self.scriptPath)\"></script>" : ""
    let body = paragraphs.map { "<p>\(Self.escape($0))</p>" } + actions.map(Self.html)
    return head + body.joined() + "</main>\(script)</body></html>\n"
  }

  private static func html(_ action: Action) -> String {
    switch action {
    case .button(let text, let path, _):
      "<form method=\"post\" action=\"\(escape(path))\"><button>\(escape(text))</button></form>"
    case .link(let text, let url): "<p><a href=\"\(escape(url))\">\(escape(text))</a></p>"
    }
  }

  static func escape(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// A redirect that no cache keeps and that tells its goal nothing of where it came from.
  static func redirect(to url: String, _ status: Status = .found) -> Response {
    Response(status: status, headers: ["Location": url, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"])
  }
}

extension Routes {
  /// Adds a page: an error becomes a page too, in the same words and with the same status.
  mutating func onPage(
    _ method: Method, _ path: String, _ handler: @escaping @Sendable (APIRequest) async throws -> Response
  ) {
    on(method, path, budget: .authentication) { try await Self.page($0, handler) }
  }

  static func page(
    _ request: APIRequest, _ handler: @Sendable (APIRequest) async throws -> Response
  ) async throws -> Response {
    do {
      return try await handler(request)
    } catch let error as MatrixError {
      return Page(title: "That did not work", paragraphs: [error.message]).response(status: Status(error.status))
    }
  }

  mutating func addPageFiles() {
    for (path, type, bytes) in [
      (Page.stylePath, "text/css", Self.style), (Page.scriptPath, "text/javascript", Self.script)
    ] {
      on(.get, path, budget: .free) { _ in
        Response(
          headers: [
            "Content-Type": type + "; charset=utf-8", "Cache-Control": "public, max-age=86400",
            "X-Content-Type-Options": "nosniff"
          ], body: .bytes(bytes))
      }
    }
  }

  /// "window.onAuthDone" where the app embeds the page, else a message to who opened it.
  private static let script = Array(
    """
    if (window.onAuthDone) window.onAuthDone();
    else if (window.opener && window.opener.postMessage) window.opener.postMessage("authDone", "*");

    """.utf8)

  private static let style = Array(
    """
    :root { color-scheme: light dark; font: 100%/1.5 system-ui, sans-serif; }
    main { max-width: 32rem; margin: 12vh auto; padding: 0 1.5rem; }
    h1 { font-size: 1.5rem; line-height: 1.25; }
    p { overflow-wrap: anywhere; }
    button, a { font: inherit; }
    button { min-height: 44px; padding: 0.5rem 1.5rem; border: 0; border-radius: 0.5rem; background: #1a5fb4; color: #fff; }
    button:focus-visible, a:focus-visible { outline: 3px solid; outline-offset: 2px; }

    """.utf8)
}
