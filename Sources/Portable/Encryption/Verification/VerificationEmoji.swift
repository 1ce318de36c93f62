import JSON

/// The 64 emoji that people compare. Spec: Client-Server API, "SAS method: emoji".
package struct VerificationEmoji: Equatable, Sendable {
  /// From 0 to 63.
  package let number: UInt8
  package let symbol: ByteString
  /// In English.
  package let name: ByteString

  /// nil unless the number is below 64.
  package init?(_ number: UInt8) {
    guard Int(number) < Self.table.count else { return nil }
    self.number = number
    (symbol, name) = Self.table[Int(number)]
  }

  private static let table: [(symbol: ByteString, name: ByteString)] = [
    ("🐶", "Dog"), ("🐱", "Cat"), ("🦁", "Lion"), ("🐎", "Horse"), ("🦄", "Unicorn"), ("🐷", "Pig"), ("🐘", "Elephant"),
    ("🐰", "Rabbit"), ("🐼", "Panda"), ("🐓", "Rooster"), ("🐧", "Penguin"), ("🐢", "Turtle"), ("🐟", "Fish"),
    ("🐙", "Octopus"), ("🦋", "Butterfly"), ("🌷", "Flower"), ("🌳", "Tree"), ("🌵", "Cactus"), ("🍄", "Mushroom"),
    ("🌏", "Globe"), ("🌙", "Moon"), ("☁️", "Cloud"), ("🔥", "Fire"), ("🍌", "Banana"), ("🍎", "Apple"),
    ("🍓", "Strawberry"), ("🌽", "Corn"), ("🍕", "Pizza"), ("🎂", "Cake"), ("❤️", "Heart"), ("😀", "Smiley"),
    ("🤖", "Robot"), ("🎩", "Hat"), ("👓", "Glasses"), ("🔧", "Spanner"), ("🎅", "Santa"), ("👍", "Thumbs Up"),
    ("☂️", "Umbrella"), ("⌛", "Hourglass"), ("⏰", "Clock"), ("🎁", "Gift"), ("💡", "Light Bulb"), ("📕", "Book"),
    ("✏️", "Pencil"), ("📎", "Paperclip"), ("✂️", "Scissors"), ("🔒", "Lock"), ("🔑", "Key"), ("🔨", "Hammer"),
    ("☎️", "Telephone"), ("🏁", "Flag"), ("🚂", "Train"), ("🚲", "Bicycle"), ("✈️", "Aeroplane"), ("🚀", "Rocket"),
    ("🏆", "Trophy"), ("⚽", "Ball"), ("🎸", "Guitar"), ("🎺", "Trumpet"), ("🔔", "Bell"), ("⚓", "Anchor"),
    ("🎧", "Headphones"), ("📁", "Folder"), ("📌", "Pin")
  ]
}
