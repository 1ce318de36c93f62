/// Bounds of what contents of events may hold, each in one place.
package enum ContentLimits {
  /// Content of an event: the server takes 64 KiB, to which it adds members of its own.
  package static let contentBytes = 60_000
  /// Of the name of a member or room, and of a reason.
  package static let nameBytes = 1_024
  /// Characters of a name, or of a search term, that are compared.
  package static let foldedCharacters = 256
  /// Users that a message mentions.
  package static let mentions = 200
  /// Files of one gallery.
  package static let galleryEntries = 60
  /// Of the name of a picture in a pack.
  package static let shortcodeBytes = 100
  /// Links of a message that are shown without a preview.
  package static let linksWithoutPreview = 50
  package static let waveformSamples = 1_024
  package static let blurHashBytes = 200
  /// MSC3381: a poll has at most 20 answers.
  package static let pollAnswers = 20
  /// Rules of a power levels event whose change is told one by one.
  package static let powerChanges = 50
  package static let alternativeAddresses = 100
  package static let pinnedEvents = 100
  /// Servers that a link between room and space names.
  package static let spaceServers = 20

  // Formatting
  /// Bytes of HTML or Markdown that are read.
  package static let htmlBytes = 256 << 10
  /// Spec: "m.room.message msgtypes": tags must not be nested deeper.
  package static let htmlDepth = 100
  package static let htmlAttributes = 16
  /// Bytes of a link's target.
  package static let linkBytes = 2_048
  /// Quotes and lists in each other.
  package static let quoteDepth = 16
  /// Emphasis within emphasis that is written.
  package static let markDepth = 40
}
