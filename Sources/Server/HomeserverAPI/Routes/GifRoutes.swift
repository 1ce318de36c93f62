import HTTPServer
import JSON
import MatrixModel
import ServerMedia

/// Ours: moving pictures to look for and to send, where the operator has named who has them.
extension Routes {
  mutating func addGifRoutes() {
    guard let gifs = homeserver.gifs else { return }

    // Charged as a write: it makes the server ask another.
    on(.searchGifs, budget: .write, endsOnShutdown: true) { request, session in
      let query = try request.query()
      let page = try await gifs.search(
        query.text("q") ?? "", from: query.integer("from") ?? 0, language: query.text("lang"), for: session.userID)
      return .json { writer in
        writer.object { writer in
          writer.array("gifs", page.entries) { Self.write($0, to: &$1) }
          if let next = page.next { writer.member("next", next) }
        }
      }
    }

    on(.takeGif, endsOnShutdown: true) { request, session in
      let taken = try await gifs.take(try await request.object().requiredText("id"), for: session.userID)
      return .json { writer in
        writer.object { writer in
          writer.member("content_uri", taken.uri)
          writer.key("info")
          writer.object { writer in
            writer.member("mimetype", taken.contentType)
            writer.member("size", taken.bytes)
            if let width = taken.width { writer.member("w", width) }
            if let height = taken.height { writer.member("h", height) }
          }
        }
      }
    }
  }

  private static func write(_ entry: Gifs.Page.Entry, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("id", entry.id)
      writer.member("title", entry.title)
      writer.member("preview", entry.preview)
      if let width = entry.width { writer.member("width", width) }
      if let height = entry.height { writer.member("height", height) }
    }
  }
}
