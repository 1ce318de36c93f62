import JSON
import MatrixModel
import RoomRules

/// Why a room cannot be read.
enum RoomError: Error {
  case json(JSONError)
  case event(EventFormatError)
  case field(StaticString)
}

/// A room of `Tests/EndToEnd/state_rooms.py`: its events, and what states of it another resolver made of others.
struct ResolvedRoom {
  struct Case {
    let states: [StateMap]
    let result: StateMap
  }

  let version: RoomVersion
  let events: [EventID: PDU]
  let cases: [Case]

  init(line: [UInt8]) throws(RoomError) {
    let json: JSON
    do throws(JSONError) { json = try JSON.parse(line, limits: JSONLimits(depth: 64, bytes: line.count)) } catch {
      throw .json(error)
    }
    guard let name = json["version"]?.text, let version = RoomVersion(name) else { throw .field("version") }
    self.version = version
    let rejected = Set(Self.list(json["rejected"]).compactMap { EventID($0) })
    var events: [EventID: PDU] = [:]
    for element in Self.list(json["events"]) {
      var event: PDU
      do throws(EventFormatError) { event = try PDU(element, version: version) } catch { throw .event(error) }
      if rejected.contains(event.eventID) { event.isRejected = true }
      events[event.eventID] = event
    }
    self.events = events
    var cases: [Case] = []
    for element in Self.list(json["cases"]) {
      var states: [StateMap] = []
      for state in Self.list(element["states"]) { states.append(try Self.state(state)) }
      cases.append(Case(states: states, result: try Self.state(element["result"])))
    }
    self.cases = cases
  }

  private static func list(_ json: JSON?) -> [JSON] { json.map { Array($0.elements) } ?? [] }

  /// A list of [type, state key, event ID].
  private static func state(_ json: JSON?) throws(RoomError) -> StateMap {
    var state: StateMap = [:]
    for entry in list(json) {
      let parts = Array(entry.elements)
      guard parts.count == 3, let type = parts[0].text, let key = parts[1].text, let event = EventID(parts[2]) else {
        throw .field("state")
      }
      state[StateMapKey(EventType(trusted: type), key)] = event
    }
    return state
  }

  /// Describes each case that `RoomVersion.resolve` answers differently.
  func differences() -> [String] {
    cases.enumerated().compactMap { number, each in
      do throws(StateResolutionError) {
        let resolved = try version.resolve(each.states) { events[$0] }
        return resolved == each.result ? nil : "case \(number): \(Self.difference(resolved, each.result))"
      } catch { return "case \(number): \(error)" }
    }
  }

  private static func difference(_ ours: StateMap, _ theirs: StateMap) -> String {
    func name(_ event: EventID?) -> String { event.map { "\($0)" } ?? "nothing" }
    return Set(ours.keys).union(theirs.keys).filter { ours[$0] != theirs[$0] }
      .map { "\($0.type) '\($0.stateKey)' is \(name(ours[$0])), should be \(name(theirs[$0]))" }
      .sorted().joined(separator: "; ")
  }
}
