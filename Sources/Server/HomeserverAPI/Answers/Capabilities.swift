import Homeserver
import JSON
import ServerAccounts

/// What `/versions` and `/capabilities` say. Spec: Client-Server API, "API Versions", "Capabilities negotiation".
enum Capabilities {
  /// Our own extensions, each documented where its routes are.
  private static let extensions: [StaticString] = [
    "martlet.bulk",
    "martlet.delivered",
    "martlet.direct",
    "martlet.draft",
    "martlet.hide",
    "martlet.paging",
    "martlet.policy_lists",
    "martlet.quiet_hours",
    "martlet.reaction_notifications",
    "martlet.read_all",
    "martlet.read_counts",
    "martlet.rejoin",
    "martlet.resumable",
    "martlet.silent",
    "martlet.since_joined",
    "martlet.slow_mode",
    "martlet.snooze",
    "martlet.unread"
  ]

  /// Proposals that are not in the specification yet.
  private static let unstableFeatures: [StaticString] = [
    "org.matrix.msc3814",
    "org.matrix.msc4140",
    "org.matrix.msc4143",
    "org.matrix.msc4174",
    "io.element.msc4360",
    "org.matrix.msc4186",
    "org.matrix.simplified_msc3575"
  ]

  /// The answer of `/versions`. Each later version only adds to the ones before it. What clients would offer in vain is announced as missing:
  /// they ask before anybody is signed in.
  static func versions(sendsMail: Bool, hasSupport: Bool) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.array("versions", 1...19) { $1.write("v1.\($0)") }
      writer.key("unstable_features")
      writer.object { writer in
        for feature in unstableFeatures { writer.member(feature, true) }
        writer.member("martlet.no_mail", !sendsMail)
        writer.member("martlet.no_federation", true)
        writer.member("martlet.support", hasSupport)
      }
    }
    return writer.bytes
  }

  /// The answer of `/capabilities`.
  ///
  /// - Parameter webPushKey: the VAPID key; nil where there is no Web Push.
  static func answer(_ configuration: HomeserverConfiguration, webPushKey: String?, isAdmin: Bool) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("capabilities")
      writer.object { writer in
        write("m.change_password", true, &writer)
        write("m.set_displayname", configuration.profileFields.allows("displayname"), &writer)
        write("m.set_avatar_url", configuration.profileFields.allows("avatar_url"), &writer)
        write("m.3pid_changes", configuration.identity.confirmsEmail, &writer)
        write("m.get_login_token", configuration.issuesLoginTokens, &writer)
        write("m.forget_forced_upon_leave", configuration.forgetsRoomsOnLeave, &writer)
        for name in extensions { write(name, true, &writer) }
        write("martlet.online", configuration.isPresenceEnabled, &writer)
        write("martlet.call", configuration.servesCalls, &writer)
        writer.key("m.profile_fields")
        writer.object { write(configuration.profileFields, to: &$0) }
        writer.key("m.room_versions")
        writer.object { writeRoomVersions(default: configuration.defaultRoomVersion, to: &$0) }
        writer.key("org.matrix.msc4140.delayed_events")
        writer.object { writer in
          writer.member("max_delay_ms", configuration.delayedEvents.delayMilliseconds)
          writer.member("max_scheduled", configuration.delayedEvents.scheduledCount)
        }
        if let gifs = configuration.gifs {
          writer.key("martlet.gifs")
          writer.object { writer in
            writer.member("enabled", true)
            writer.member("provider", gifs.name)
          }
        }
        writeInviteLinks(configuration.inviteLinks, isAdmin: isAdmin, &writer)
        if let webPushKey { writeWebPush(webPushKey, &writer) }
        if isAdmin {
          write("martlet.administration", true, &writer)
          writer.key("m.account_moderation")
          writer.object { writer in
            writer.member("suspend", true)
            writer.member("lock", true)
          }
        }
      }
    }
    return writer.bytes
  }

  /// `enabled` says whether links work at all; `create`, whether this user may make them.
  private static func writeInviteLinks(_ rules: InviteLinkRules, isAdmin: Bool, _ writer: inout JSONWriter) {
    var standing = AccountStanding()
    standing.isAdmin = isAdmin
    writer.key("martlet.invite_links")
    writer.object { writer in
      writer.member("enabled", rules.makers != .nobody)
      writer.member("create", rules.makers.include(standing))
      writer.member("most_uses", isAdmin ? InviteLinks.usesLimit : Int64(rules.usesPerLink))
      writer.member("longest_ms", rules.longestMilliseconds)
    }
  }

  /// Spec: MSC4174, by the name that it has and by the one that it had until it was to have none of its own.
  private static func writeWebPush(_ key: String, _ writer: inout JSONWriter) {
    for name: StaticString in ["m.webpush", "org.matrix.msc4174.webpush"] {
      writer.key(name)
      writer.object { writer in
        writer.member("enabled", true)
        writer.member("vapid", key)
      }
    }
  }

  private static func writeRoomVersions(default version: ByteString, to writer: inout JSONWriter) {
    writer.member("default", version)
    writer.key("available")
    writer.object { writer in
      for version in Homeserver.roomVersions {
        writer.key(version.name)
        writer.write(version.isStable ? "stable" : "unstable")
      }
    }
  }

  /// Spec: Client-Server API, "`m.profile_fields` capability".
  private static func write(_ fields: Profiles.Policy, to writer: inout JSONWriter) {
    writer.member("enabled", fields.allowed?.isEmpty != true)
    if let allowed = fields.allowed {
      writer.array("allowed", allowed) { $1.write($0) }
    } else if !fields.disallowed.isEmpty {
      writer.array("disallowed", fields.disallowed) { $1.write($0) }
    }
  }

  private static func write(_ name: StaticString, _ isEnabled: Bool, _ writer: inout JSONWriter) {
    writer.key(name)
    writer.object { $0.member("enabled", isEnabled) }
  }
}
