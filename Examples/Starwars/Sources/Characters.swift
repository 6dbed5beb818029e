import GraphQL

struct Human: HumanFields {
    var id: String
    var name: String
    var friendIDs: [String]
    var appearsIn = Episode.allCases
    var homePlanet: String?

    /// Called once for all humans of a level. A database would be asked once for all ids.
    static func friends(
        of humans: [Human], _ request: FieldRequest<NoContext>
    ) -> [[any Character]] {
        humans.map { $0.friendIDs.compactMap { characters[$0] } }
    }
}

struct Droid: DroidFields {
    var id: String
    var name: String
    var friendIDs: [String]
    var appearsIn = Episode.allCases
    var primaryFunction: String

    static func friends(
        of droids: [Droid], _ request: FieldRequest<NoContext>
    ) -> [[any Character]] {
        droids.map { $0.friendIDs.compactMap { characters[$0] } }
    }
}

let luke = Human(
    id: "1000", name: "Luke Skywalker", friendIDs: ["1002", "1003", "2001"], homePlanet: "Tatooine")
let han = Human(id: "1002", name: "Han Solo", friendIDs: ["1000", "1003", "2001"])
let leia = Human(
    id: "1003", name: "Leia Organa", friendIDs: ["1000", "1002", "2001"], homePlanet: "Alderaan")
let artoo = Droid(
    id: "2001", name: "R2-D2", friendIDs: ["1000", "1002", "1003"], primaryFunction: "Astromech")

let characters: [String: any Character] = ["1000": luke, "1002": han, "1003": leia, "2001": artoo]
