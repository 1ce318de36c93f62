import HTTPServer
import Homeserver
import HomeserverAPI
import JSON
import MatrixModel

/// The API keys, for administrators and `martlet call key`. A secret is shown to who made its key, once.
extension Routes {
  package static let callKeys = "/_matrix/client/unstable/martlet.administration/call_keys"

  /// - Parameter removed: told whose sessions end.
  package mutating func addCallKeyRoutes(
    _ projects: CallProjects, removed: @escaping @Sendable (ProjectID) async -> Void = { _ in }
  ) {
    let audit = homeserver.audit

    onAdmin(.get, Self.callKeys) { _, _ in
      .json { writer in
        writer.object { writer in
          writer.array("keys", projects.all) { project, writer in writer.object { Self.write(project, to: &$0) } }
        }
      }
    }

    onAdmin(.post, Self.callKeys) { request, administrator in
      let body = try await request.object()
      guard let name = body["name"]?.text else { throw MatrixError.missingParameter("name") }
      let (project, secret) = try await audit.record("call_key.create", of: name.string, by: administrator) {
        try await projects.create(name)
      }
      return .json { writer in
        writer.object { writer in
          Self.write(project, to: &writer)
          writer.member("secret", secret)
        }
      }
    }

    onAdmin(.put, Self.callKeys + "/{key}/callback") { request, administrator in
      guard let id = ProjectID(request.path("key")) else { throw MatrixError.notFound("There is no such key.") }
      let url = try CallProjects.callback(of: try await request.object())
      let project = try await audit.record("call_key.callback", of: id.string, by: administrator) {
        try await projects.setCallback(url, of: id)
      }
      return .json { writer in writer.object { Self.write(project, to: &$0) } }
    }

    onAdmin(.delete, Self.callKeys + "/{key}") { request, administrator in
      guard let id = ProjectID(request.path("key")) else { throw MatrixError.notFound("There is no such key.") }
      try await audit.record("call_key.remove", of: id.string, by: administrator) { try await projects.remove(id) }
      await removed(id)
      return .emptyObject
    }
  }

  private static func write(_ project: CallProjects.Project, to writer: inout JSONWriter) {
    writer.member("key", project.id)
    writer.member("name", project.name)
    writer.member("created_ts", project.created)
    if let callback = project.callback { writer.member("callback", callback) }
  }
}
