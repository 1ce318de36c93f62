import Messenger

/// Emoji and what they are called: what a person picks from and what `:` completes, without a network. Names as Unicode has them,
/// shortened, and what people say.
struct Emoji {
  let text: String
  /// The names, with commas between them, in small ASCII letters.
  let names: String

  static let all: [Emoji] = read()

  /// The first of the names.
  var name: String { String(decoding: names.utf8.prefix { $0 != UInt8(ascii: ",") }, as: UTF8.self) }

  /// Those that have a word that begins with the text, then those with the text anywhere; all for an empty one.
  static func matching(_ text: String, limit: Int = .max) -> [Emoji] {
    let wanted = text.asciiLowercased
    if wanted.utf8.isEmpty { return all }
    var first: [Emoji] = []
    var others: [Emoji] = []
    for emoji in all {
      switch Match.rank(emoji.names, wanted) {
      case .none: break
      case 0?, 1?: first.append(emoji)
      default: others.append(emoji)
      }
    }
    return Array((first + others).prefix(limit))
  }

  /// `emoji` and its names without anything between: the first ASCII byte ends the emoji.
  private static func read() -> [Emoji] {
    var all: [Emoji] = []
    for part in ByteTable.bytes(list).split(separator: UInt8(ascii: ";")) {
      let end = part.firstIndex { $0 < 0x80 } ?? part.endIndex
      all.append(
        Emoji(text: String(decoding: part[..<end], as: UTF8.self), names: String(decoding: part[end...], as: UTF8.self)))
    }
    return all
  }

  private static var list: StaticString {
    """
    👍thumbs up,yes,+1;❤️red heart,love;😂joy,tears of joy,lol;🎉tada,party;😮open mouth,wow;😢crying,sad;\
    🙏pray,thanks,please;🔥fire;👏clap;✅check,done;👀eyes;😀grinning;😃smiling open mouth;😄smile;😁grinning smiling eyes;\
    😆smiling open mouth and tightly-closed eyes;😅smiling open mouth and cold sweat;🤣rofl,rolling;🙂slightly smiling;\
    🙃upside-down;😉wink;😊blush;😇smiling halo;🥰in love,hearts;😍heart eyes;🤩grinning star eyes;😘kiss;😗kissing;\
    😚kissing closed eyes;😋savouring delicious food;😛stuck-out tongue;😜stuck-out tongue and winking eye;\
    🤪grinning one large and one small eye;😝stuck-out tongue and tightly-closed eyes;🤑money-mouth;🤗hugging;\
    🤭smiling smiling eyes and hand covering mouth;🤫finger covering closed lips;🤔thinking;🤐zipper-mouth;\
    🤨one eyebrow raised;😐neutral;😑expressionless;😶without mouth;😏smirking;😒unamused;🙄eye roll;😬grimacing;😌relieved;\
    😔pensive;😪sleepy;😴sleeping;😷medical mask;🤒thermometer;🤕head-bandage;🤢nauseated;🤮open mouth vomiting;🥵overheated;\
    🥶freezing;🥴uneven eyes and wavy mouth;😵dizzy;🤯mind blown;🤠cowboy hat;🥳partying;😎cool,sunglasses;🤓nerd;🧐monocle;\
    😕confused;😟worried;🙁slightly frowning;😲astonished;😳flushed;🥺pleading eyes;😦frowning open mouth;😧anguished;\
    😨fearful;😰open mouth and cold sweat;😥disappointed but relieved;😭sob;😱scream;😖confounded;😣persevering;\
    😞disappointed;😓cold sweat;😩weary;😫tired;🥱yawning;😤look of triumph;😡angry,rage;😠angry;\
    🤬serious symbols covering mouth;😈smiling horns;💀skull;💩poop;🤡clown;👻ghost;👽extraterrestrial alien;🤖robot;\
    😺smiling cat open mouth;🙈see-no-evil monkey;🙉hear-no-evil monkey;🙊speak-no-evil monkey;👋wave,hello;\
    🤚raised back of hand;✋raised hand;🖖raised hand part between middle and ring fingers;👌ok hand;🤏pinching hand;\
    ✌️victory hand;🤞hand index and middle fingers crossed;🤟i love you hand;🤘of the horns;🤙call me hand;\
    👈left pointing backhand index;👉right pointing backhand index;👆up pointing backhand index;\
    👇down pointing backhand index;☝️up pointing index;👎thumbs down,no,-1;✊raised fist;👊fisted hand;\
    🤛left-facing fist;🤜right-facing fist;🙌raised hands,hooray;👐open hands;🤲palms up together;🤝handshake;\
    ✍️writing hand;💪muscle,strong;🧠brain;👶baby;🧒child;👩woman;👨man;🧓older adult;🤷shrug;🤦facepalm;\
    🙋happy person raising one hand;🙇person bowing deeply;💃dancer;🕺man dancing;🏃runner;🚶pedestrian;🧡orange heart;\
    💛yellow heart;💚green heart;💙blue heart;💜purple heart;🖤heart;🤍heart;🤎brown heart;💔broken heart;💕two hearts;\
    💞revolving hearts;💓beating heart;💗growing heart;💖sparkling heart;💘heart arrow;💝heart ribbon;💯100,hundred;💢anger;\
    💥collision;💫dizzy;💦splashing sweat;💨dash;💬speech balloon;💭thought balloon;💤sleeping;⭐medium star;🌟glowing star;\
    ✨sparkles;⚡high voltage;☀️sun rays;🌈rainbow;☁️cloud;🌧️cloud rain;❄️snowflake;⛄snowman without snow;🌊water wave;\
    🌍earth globe europe-africa;🌙crescent moon;🐶dog;🐱cat;🐭mouse;🐰rabbit;🦊fox;🐻bear;🐼panda;🐯tiger;🦁lion;🐮cow;🐷pig;\
    🐸frog;🐵monkey;🐔chicken;🐧penguin;🐦bird;🦆duck;🦉owl;🐺wolf;🐴horse;🦄unicorn;🐝honeybee;🐛bug;🦋butterfly;🐌snail;\
    🐞lady beetle;🐢turtle;🐍snake;🐙octopus;🐠tropical fish;🐬dolphin;🐳spouting whale;🌱seedling;🌲evergreen tree;\
    🌴palm tree;🌵cactus;🍀four leaf clover;🌹rose;🌻sunflower;🌷tulip;🍎red apple;🍌banana;🍉watermelon;🍇grapes;🍓strawberry;\
    🍒cherries;🍑peach;🍍pineapple;🥝kiwifruit;🍅tomato;🥑avocado;🥕carrot;🌽ear of maize;🍞bread;🧀cheese wedge;🍳cooking;\
    🍔hamburger;🍟french fries;🍕slice of pizza;🌮taco;🍣sushi;🍜steaming bowl;🍰shortcake;🎂birthday cake;🍪cookie;\
    🍫chocolate bar;🍩doughnut;☕coffee;🍵teacup without handle;🍺beer;🍷wine glass;🥂clinking glasses;⚽soccer ball;\
    🏀basketball and hoop;🎾tennis racquet and ball;🏆trophy;🥇first place medal;🎮video game;🎲game die;🎯direct hit;\
    🎨artist palette;🎵musical note;🎸guitar;🎤microphone;🎬clapper board;📷camera;💻personal computer;📱mobile phone;\
    ⌚watch;💡idea,bulb;🔧wrench;🔨hammer;🔑key;🔒lock;📚books;📝memo;📎paperclip;📌pin,pushpin;📅calendar;\
    📈chart upwards trend;📦package;🎁gift,present;🎈balloon;💰money bag;🚗automobile;🚲bicycle;✈️airplane;🚀rocket;\
    🏠house building;🏖️beach umbrella;⏰alarm clock;⏳hourglass flowing sand;❌cross,no;❓question;❗exclamation;\
    ⚠️warning;🚫no entry;➕plus;➖minus;♻️universal recycling;🔔bell;🔍left-pointing magnifying glass;🔗link;\
    ▶️right-pointing triangle;⏸️double vertical bar;🆗squared ok;🆕squared new;🔴large red circle;🟢large green circle;\
    🔵large blue circle;🏁chequered flag;🏳️‍🌈rainbow flag,pride
    """
  }
}

enum ByteTable {
  static func bytes(_ text: StaticString) -> [UInt8] {
    Array(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}

/// How well a name fits what a person has typed.
enum Match {
  /// 0 where the name begins so, 1 where a word of it does, 2 where it stands anywhere; nil where it does not. Both in small letters.
  static func rank(_ name: String, _ wanted: String) -> Int? {
    var (name, wanted) = (name, wanted)
    return name.withUTF8 { name in
      wanted.withUTF8 { wanted in
        guard wanted.count <= name.count else { return nil }
        var best: Int?
        for start in 0...(name.count - wanted.count) {
          var length = 0
          while length < wanted.count, name[start + length] == wanted[length] { length += 1 }
          guard length == wanted.count else { continue }
          if start == 0 { return 0 }
          if isBreak(name[start - 1]) { return 1 }
          best = 2
        }
        return best
      }
    }
  }

  private static func isBreak(_ byte: UInt8) -> Bool {
    byte < 0x80 && !(byte >= 0x30 && byte <= 0x39) && !(byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A)
  }
}
