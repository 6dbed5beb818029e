import GraphQL

protocol Character: Sendable {
    var id: String { get }
    var name: String { get }
    var friendIDs: [String] { get }
    var appearsIn: [Episode] { get }
}

enum Episode: String, LeafValue, CaseIterable {
    case newHope = "NEWHOPE"
    case empire = "EMPIRE"
    case jedi = "JEDI"
}

struct Human: Character {
    var id: String
    var name: String
    var friendIDs: [String]
    var appearsIn = Episode.allCases
    var homePlanet: String?
}

struct Droid: Character {
    var id: String
    var name: String
    var friendIDs: [String]
    var appearsIn = Episode.allCases
    var primaryFunction: String
}

let luke = Human(
    id: "1000", name: "Luke Skywalker", friendIDs: ["1002", "1003", "2001"], homePlanet: "Tatooine")
let han = Human(id: "1002", name: "Han Solo", friendIDs: ["1000", "1003", "2001"])
let leia = Human(
    id: "1003", name: "Leia Organa", friendIDs: ["1000", "1002", "2001"], homePlanet: "Alderaan")
let artoo = Droid(
    id: "2001", name: "R2-D2", friendIDs: ["1000", "1002", "1003"], primaryFunction: "Astromech")

let characters: [String: any Character] = ["1000": luke, "1002": han, "1003": leia, "2001": artoo]
