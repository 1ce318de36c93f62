import HTTPServer
import Homeserver
import JSON
import MatrixModel

/// What the pages that messages name are about.
extension Routes {
  mutating func addPreviewRoutes() {
    let previews = homeserver.urlPreviews
    for endpoint in [Endpoint.getUrlPreviewAuthed, .getUrlPreview] {
      // Charged as a write: it makes the server ask another.
      on(endpoint, budget: .write, endsOnShutdown: true) { request, session in
        let query = try request.query()
        let time = try query.integer("ts")
        return .json(try await previews.preview(of: query.required("url"), from: time, for: session.userID))
      }
    }
  }
}
