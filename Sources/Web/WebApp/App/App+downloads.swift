import ClientCore
import ClientHost
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// A file that is being fetched for the person.
final class Fetch {
  let url: String
  let task: HostTask
  /// 0...1, once it is worth telling.
  var part: Double?

  init(_ url: String, _ task: HostTask) {
    self.url = url
    self.task = task
  }
}

extension App {
  /// Fetches a file and hands it to the person, or to another program. One that is on its way, as `moved` has shown, is given up.
  /// - Parameter moved: `fetching` says something else now.
  func download(_ url: String, named name: String, shares: Bool = false, _ moved: @escaping () -> Void) {
    if let index = place(of: url) {
      guard fetches[index].part != nil else { return }
      fetches.remove(at: index).task.cancel()
      return moved()
    }
    let task = Host.download(url: url, fileName: name, shares: shares) { [self] event in
      guard let index = place(of: url) else { return }
      switch event {
      case .progress(let part): fetches[index].part = part
      case .done(let isDone):
        fetches.remove(at: index)
        if !isDone { notices.show(.downloadFailed, isTrouble: true) }
      }
      moved()
    }
    fetches.append(Fetch(url, task))
  }

  /// - Parameters:
  ///   - note: shows how far it is.
  ///   - isThere: whether the note still is.
  func download(
    _ url: String, named name: String, shares: Bool = false, telling note: Node, while isThere: @escaping () -> Bool
  ) {
    download(url, named: name, shares: shares) { [self] in
      guard isThere() else { return }
      dom.setText(note, fetching(url) ?? "")
      dom.flush()
    }
  }

  /// A small file of a message, for the program itself.
  func fetchMedia(_ uri: MediaURI, limit: Int, _ then: @escaping (HostResponse) -> Void) {
    var request = effects.hostRequest(client.download(uri))
    request.answerBytesLimit = limit
    Host.fetch(request, then)
  }

  /// How much of it is here, and what a click does then; nil where it is not fetched, or about to be here.
  func fetching(_ url: String) -> String? {
    place(of: url).flatMap { fetches[$0].part }.map { Strings[.fetching, "\(Int($0 * 100))"] }
  }

  private func place(of url: String) -> Int? { fetches.firstIndex { $0.url.hasSameBytes(as: url) } }
}
