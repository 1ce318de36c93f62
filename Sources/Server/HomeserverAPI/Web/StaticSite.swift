import EventLoop
import HTTPServer
import MatrixModel

/// The web client's files, under a policy that lets nothing in that did not come with them.
struct StaticSite: Sendable {
  /// Scripts and styles from here only, none inline; WebAssembly; images and media from memory (the page fetches them with
  /// its access token). Connections may go to any homeserver over TLS: the page is a client for all of them, and to whom
  /// it talks is what the person typed.
  static let contentSecurityPolicy = [
    "default-src 'self'", "script-src 'self' 'wasm-unsafe-eval'", "style-src 'self'", "img-src 'self' blob: data:",
    "media-src 'self' blob:", "font-src 'self'", "connect-src 'self' https: wss:", "worker-src 'self'",
    "manifest-src 'self'", "object-src 'none'", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'self'",
  ].joined(separator: "; ")

  private static let path = "path"

  private let files: StaticFiles
  /// Where the program lies when it is not in the directory.
  private let program: (files: StaticFiles, name: String)?

  /// nil where no directory is configured.
  init?(_ configuration: APIConfiguration, pool: BlockingPool?) {
    guard let directory = configuration.webDirectory, let pool else { return nil }
    files = StaticFiles(directory: directory, pool: pool)
    program = configuration.webProgram.map { file in
      let parts = file.split(separator: "/", omittingEmptySubsequences: false)
      let folder = parts.count == 1 ? "." : parts.dropLast().joined(separator: "/")
      return (StaticFiles(directory: folder, pool: pool, index: nil), String(parts.last ?? ""))
    }
  }

  /// Serves every path that no endpoint takes, for GET and HEAD.
  func mount(on router: inout Router) {
    router.on(.get, "/{\(Self.path)...}") { request in
      let path = request.parameters[Self.path] ?? ""
      var response = try await answer(request, path)
      response.headers.add("Content-Security-Policy", Self.contentSecurityPolicy)
      response.headers["X-Content-Type-Options"] = "nosniff"
      response.headers.add("Referrer-Policy", "no-referrer")
      response.headers.add("Cross-Origin-Opener-Policy", "same-origin")
      return response
    }
  }

  private func answer(_ request: Request, _ path: String) async throws -> Response {
    // What an API client asks for gets an API's answer, whatever else is served here.
    if path.utf8.starts(with: "_matrix/".utf8) || path.utf8.starts(with: ".well-known/".utf8) {
      throw MatrixError.unrecognized(status: 404)
    }
    if let program, path.utf8.elementsEqual("app.wasm".utf8),
      let response = try await program.files.response(to: request, path: program.name)
    {
      return response
    }
    if let response = try await files.response(to: request, path: path) { return response }
    return .text("There is no such page.\n", status: .notFound)
  }
}
