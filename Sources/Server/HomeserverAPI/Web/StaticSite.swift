import EventLoop
import HTTPServer
import MatrixModel

/// The web client's files, under a policy that lets nothing in that did not come with them.
struct StaticSite: Sendable {
  /// Scripts and styles from here only, none inline; WebAssembly; images and media from memory (the page fetches them with
  /// its access token). Connections may go to any homeserver over TLS: the page is a client for all of them, and the user
  /// types which server it talks to.
  static let contentSecurityPolicy = [
    "default-src 'self'", "script-src 'self' 'wasm-unsafe-eval'", "style-src 'self'", "img-src 'self' blob: data:",
    "media-src 'self' blob:", "font-src 'self'", "connect-src 'self' https: wss:", "worker-src 'self'",
    "manifest-src 'self'", "object-src 'none'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'self'"
  ].joined(separator: "; ")

  /// The document in the frame of `<martlet-messenger>`: the only one that other origins may frame.
  private static let frameDocument = "messenger.html"

  /// A file that `./run` leaves in the folder while it builds programs behind the running server. Its name begins with a dot, so it is
  /// never served.
  static let buildMarker = ".still-building"

  private let directory: String
  private let pool: BlockingPool
  private let files: StaticFiles
  /// Where the program lies when it is not in the directory.
  private let program: (files: StaticFiles, name: String)?
  /// The policy of `frameDocument`; nil if pages of this origin alone may frame it.
  private let framePolicy: String?

  /// nil where no directory is configured.
  init?(_ configuration: APIConfiguration, pool: BlockingPool?) {
    guard let directory = configuration.webDirectory, let pool else { return nil }
    self.directory = directory
    self.pool = pool
    files = StaticFiles(directory: directory, pool: pool)
    let origins = configuration.embedOrigins.map(\.description)
    framePolicy = origins.isEmpty ? nil : ([Self.contentSecurityPolicy] + origins).joined(separator: " ")
    program = configuration.webProgram.map { file in
      let parts = file.split(separator: "/", omittingEmptySubsequences: false)
      let folder = parts.count == 1 ? "." : parts.dropLast().joined(separator: "/")
      return (StaticFiles(directory: folder, pool: pool, index: nil), String(parts.last ?? ""))
    }
  }

  /// Answers GET and HEAD for every path that no endpoint takes. A route of its own would take the paths of unknown
  /// endpoints too, and make 405 of their 404.
  func mount(on router: inout Router) {
    let notFound = router.notFound
    router.notFound = { request in
      guard request.method == .get || request.method == .head, !Self.isForClients(request.pathBytes) else {
        return try await notFound(request)
      }
      let path = String(decoding: request.pathBytes.dropFirst(), as: UTF8.self)
      var response = try await answer(request, path)
      protect(&response, path)
      return response
    }
  }

  private func protect(_ response: inout Response, _ path: String) {
    let wider = path == Self.frameDocument ? framePolicy : nil
    response.headers.add("Content-Security-Policy", wider ?? Self.contentSecurityPolicy)
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers.add("Referrer-Policy", "no-referrer")
    // The window of a single sign-on ends at the frame's document and reports to the frame that opened it, inside the page of another origin.
    response.headers.add("Cross-Origin-Opener-Policy", wider == nil ? "same-origin" : "unsafe-none")
  }

  /// What an API client asks for gets an API's answer, whatever else is served here.
  private static func isForClients(_ path: ArraySlice<UInt8>) -> Bool {
    ["/_matrix", "/_synapse", "/.well-known"].contains { path.starts(with: $0.utf8) }
  }

  /// - Parameter path: without the first slash, as received: the names of the client's files need no percent-encoding.
  private func answer(_ request: Request, _ path: String) async throws -> Response {
    if let program, path.utf8.elementsEqual("app.wasm".utf8),
      let response = try await program.files.response(to: request, path: program.name)
    {
      return response
    }
    if let response = try await files.response(to: request, path: path) { return response }
    if path.hasSuffix(".wasm"), try await isStillBuilding() {
      var response = Response.text(
        "This part of Martlet is still being built. Try again in a few minutes; ./run says when it is done.\n",
        status: .serviceUnavailable)
      response.headers.add("Retry-After", "5")
      return response
    }
    return .text("There is no such page.\n", status: .notFound)
  }

  private func isStillBuilding() async throws -> Bool {
    let marker = "\(directory)/\(Self.buildMarker)"
    return try await pool.run { OpenFile(path: marker) != nil }
  }
}
