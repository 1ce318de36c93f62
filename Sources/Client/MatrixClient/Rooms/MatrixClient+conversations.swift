public import ClientCore
import JSON
public import MatrixModel

/// All conversations at once, and what the server offers for them.
extension MatrixClient {
  /// What the server has beyond the specification; it is asked once.
  public func extensions() async throws(ClientError) -> ServerExtensions {
    if let known = core.offeredExtensions ?? knownExtensions { return known }
    let offered = try await capabilities().extensions
    knownExtensions = offered
    return offered
  }

  /// Out of all rooms that one is in, invited to or knocking at: on the server where it offers that (`martlet.bulk`), which goes on by
  /// itself whatever happens here, else one after the other.
  /// - Parameter progress: how many are done, with or without success.
  /// - Returns: rooms that one could not leave.
  @discardableResult
  public func endAll(
    progress: (@Sendable (_ done: Int, _ total: Int) -> Void)? = nil
  ) async throws(ClientError) -> [RoomID: ClientError] {
    guard try await extensions().contains(.bulk) else { return try await endOneByOne(progress) }
    var job = try await perform(Query<BulkLeave>.leave(nil))
    progress?(job.done, job.total)
    while !job.isFinished {
      do { try await Task.sleep(for: .milliseconds(Self.jobLookMilliseconds)) } catch { throw .cancelled }
      job = try await perform(Query<BulkLeave>.bulkLeave(job.job))
      progress?(job.done, job.total)
    }
    return job.errors.mapValues { .refused(status: 403, code: $0, message: "") }
  }

  private static let jobLookMilliseconds = 200

  private func endOneByOne(
    _ progress: (@Sendable (_ done: Int, _ total: Int) -> Void)?
  ) async throws(ClientError) -> [RoomID: ClientError] {
    let rooms = core.roomIDs
    var errors: [RoomID: ClientError] = [:]
    for (done, id) in rooms.enumerated() {
      do throws(ClientError) { try await perform(.rooms(.leave(id))) } catch {
        if case .cancelled = error { throw error }
        errors[id] = error
      }
      progress?(done + 1, rooms.count)
    }
    return errors
  }

  /// What is unread in all rooms together, as the server counts; servers without `martlet.unread` refuse it.
  public func unreadTotal() async throws(ClientError) -> UnreadTotal { try await perform(.unreadTotal()) }

  /// A page of the server's users, see `Query.users`; servers without `martlet.paging` refuse it.
  public func users(
    matching term: String? = nil, limit: Int? = nil, from: ByteString? = nil
  ) async throws(ClientError) -> MemberPage {
    try await perform(.users(matching: term.map { ByteString($0) }, limit: limit, from: from))
  }
}
