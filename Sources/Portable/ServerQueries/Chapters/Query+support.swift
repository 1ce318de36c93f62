import JSON
import MatrixModel

extension Query {
  /// Returns the people that users can ask for help. Spec: Client-Server API, `GET /.well-known/matrix/support`.
  public static func support() -> Query<SupportContacts> {
    Query<SupportContacts>(.getWellknownSupport, Endpoint.getWellknownSupport.path()) { SupportContacts($0) }
  }
}

/// The people who run a server, and a page with help. The server says what it likes: only addresses that are safe to open are here.
public struct SupportContacts: Sendable, Hashable {
  /// Contacts that are read.
  public static let limit = 10

  public struct Contact: Sendable, Hashable {
    /// nil if the server gives none, or one that is not a plain address.
    public let email: ByteString?
    public let userID: UserID?
  }

  /// Those who run the server first; each has at least one of the two ways.
  public let contacts: [Contact]
  /// An `https:` or `http:` address.
  public let page: ByteString?

  init?(_ json: JSON) {
    guard json.isObject else { return nil }
    var first: [Contact] = []
    var others: [Contact] = []
    for entry in json["contacts"].map({ Array($0.elements.prefix(Self.limit)) }) ?? [] {
      let email = entry.text("email_address").flatMap { Self.isPlain($0) ? $0 : nil }
      let contact = Contact(email: email, userID: UserID(entry["matrix_id"]))
      guard contact.email != nil || contact.userID != nil else { continue }
      if entry["role"]?.isString("m.role.admin") ?? false { first.append(contact) } else { others.append(contact) }
    }
    contacts = first + others
    page = json.text("support_page").flatMap { page in
      page.utf8.count <= 2_048 && (page.hasPrefix("https://") || page.hasPrefix("http://")) ? page : nil
    }
  }

  /// Whether it is `name@host` without anything that means something in a `mailto:` address.
  private static func isPlain(_ email: ByteString) -> Bool {
    let parts = email.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }), email.utf8.count <= 254 else { return false }
    return email.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "@"):
        true
      default: false
      }
    }
  }
}
