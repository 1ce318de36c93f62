import JSON

/// What a connection may do. OpenTok's words.
package enum Role: String, Sendable, CaseIterable {
  case subscriber
  case publisher
  case publisherOnly = "publisheronly"
  case moderator

  package enum Permission: Sendable, CaseIterable {
    case publish, subscribe, signal
    /// Mutes, unpublishes and disconnects others; records.
    case moderate
  }

  package func allows(_ permission: Permission) -> Bool {
    switch permission {
    case .publish: self != .subscriber
    case .subscribe, .signal: self != .publisherOnly
    case .moderate: self == .moderator
    }
  }
}
