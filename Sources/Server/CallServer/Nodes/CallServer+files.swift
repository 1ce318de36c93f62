import Database
import HTTPServer
import HomeserverAPI
import Outbound
import ServerCore

/// The files of a recording lie on the disk of the node that made them. Any node gives them out: one that has them not asks the others.
extension CallServer {
  /// A file of a recording at another node.
  private struct RemoteFile: Sendable {
    let url: String
    let size: Int64
    let entityTag: String?
  }

  /// What is asked for at once.
  private static let pieceBytes: Int64 = 4 << 20
  private static let pieceTimeout = Duration.seconds(30)

  /// Has a request answered by the node that has the recording's files, if another has them. Throws `Elsewhere`.
  nonisolated func requireFilesHere(of recording: StoredRecording, for request: RESTRequest) async throws {
    guard recording.status == .available, !Forwarding.isForwarded(request.http),
      await recordings.manifest(of: recording.id) == nil
    else { return }
    guard let (run, _) = try await remote(RecordingManifest.fileName, of: recording, for: request.http) else { return }
    throw Elsewhere(run: run, otherwise: RESTError(503, "The node that has the files cannot be reached."))
  }

  /// What is known of a recording's files, at whichever node they are.
  nonisolated func manifest(of recording: StoredRecording, for request: RESTRequest) async throws -> RecordingManifest? {
    if let manifest = await recordings.manifest(of: recording.id) { return manifest }
    guard recording.status == .available, !Forwarding.isForwarded(request.http),
      let (_, file) = try await remote(RecordingManifest.fileName, of: recording, for: request.http),
      file.size <= Self.pieceBytes
    else { return nil }
    let headers = Forwarding.headers(for: request.http.peer)
    let answer = try? await homeserver.http.send(Self.piece(0..<file.size, of: file.url, headers))
    return answer.flatMap { $0.status == 206 ? RecordingManifest($0.body) : nil }
  }

  /// The answer with a file that another node has; nil if no node has it.
  ///
  /// - Parameter headers: whatever goes with it.
  nonisolated func download(
    _ name: String, of recording: StoredRecording, for request: Request, headers: ResponseHeaders
  ) async throws -> Response? {
    guard !Forwarding.isForwarded(request), let (_, file) = try await remote(name, of: recording, for: request) else {
      return nil
    }
    var (response, range) = Response.part(of: file.size, for: request, entityTag: file.entityTag, headers: headers)
    guard let range else { return response }
    let forwarding = Forwarding.headers(for: request.peer)
    response.body = .stream(length: Int64(range.count)) { [homeserver] writer in
      var next = range.lowerBound
      while next < range.upperBound {
        let end = min(next + Self.pieceBytes, range.upperBound)
        let piece = try await homeserver.http.send(Self.piece(next..<end, of: file.url, forwarding))
        guard piece.status == 206, piece.body.count == Int(end - next) else { throw HTTPError.clientGone }
        try await writer.write(piece.body)
        next = end
      }
    }
    return response
  }

  /// The first of the other nodes that has a file.
  private nonisolated func remote(
    _ name: String, of recording: StoredRecording, for request: Request
  ) async throws -> (run: Int64, RemoteFile)? {
    let database = homeserver.database
    guard database.isNode else { return nil }
    for run in try await database.liveRuns() where run != database.run {
      guard let node = try await database.nodeContact(of: run) else { continue }
      let url = "http://\(node.address)" + signedPath(of: name, recording)
      let answer = try? await homeserver.http.send(Self.piece(0..<1, of: url, Forwarding.headers(for: request.peer)))
      guard let answer, answer.status == 206, let size = Self.size(in: answer.header("content-range")) else { continue }
      return (run, RemoteFile(url: url, size: size, entityTag: answer.header("etag")))
    }
    return nil
  }

  private static func piece(
    _ range: Range<Int64>, of url: String, _ headers: [(name: String, value: String)]
  ) -> OutgoingRequest {
    var request = OutgoingRequest(
      url: url, headers: headers + [("Range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")], timeout: pieceTimeout,
      responseBytesLimit: range.count, destinations: .any)
    request.acceptsCompression = false
    return request
  }

  /// Of `bytes 0-0/SIZE`.
  private static func size(in range: String?) -> Int64? {
    guard let range, let slash = range.lastIndex(of: "/") else { return nil }
    return Int64(range[range.index(after: slash)...])
  }
}
