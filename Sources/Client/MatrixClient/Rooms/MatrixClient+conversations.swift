public import ClientCore
import JSON
public import MatrixModel

/// Functions for all rooms at once, and the server's extensions for them.
extension MatrixClient {
  /// Returns the server's extensions of the specification. Asks the server only once.
  public func extensions() async throws(ClientError) -> ServerExtensions {
    if let known = core.offeredExtensions ?? knownExtensions { return known }
    let offered = try await capabilities().extensions
    knownExtensions = offered
    return offered
  }

  /// Leaves all rooms in which the user is joined, invited or knocking. If the server offers it (`martlet.bulk`), the server does so in one
  /// operation, which continues even if this client stops. Otherwise the client leaves one room after the other.
  /// - Parameter progress: receives the number of rooms that are done, with or without success.
  /// - Returns: the rooms that the user could not leave.
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

  /// Returns the server's count of unread messages in all rooms. Servers without `martlet.unread` refuse it.
  public func unreadTotal() async throws(ClientError) -> UnreadTotal { try await perform(.unreadTotal()) }

  /// Returns a page of the server's users, see `Query.users`. Servers without `martlet.paging` refuse it.
  public func users(
    matching term: String? = nil, limit: Int? = nil, from: ByteString? = nil
  ) async throws(ClientError) -> MemberPage {
    try await perform(.users(matching: term.map { ByteString($0) }, limit: limit, from: from))
  }
}
