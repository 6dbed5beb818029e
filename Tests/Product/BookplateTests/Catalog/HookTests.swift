import TestBasics
import TestSupport
import Testing

@testable import Bookplate

/// The sentence of a description that a card shows.
@Suite struct HookTests {
    @Test(
        arguments: [
            // The first sentence, if it is good.
            (
                "One short sentence that ends right here. And another.",
                "One short sentence that ends right here."
            ),
            (
                "Dr. J. R. Smith of St. Ives went out into the cold night. Then it rained.",
                "Dr. J. R. Smith of St. Ives went out into the cold night."
            ),
            (
                "  A lighthouse keeper \n\tfinds a boat without a crew. ",
                "A lighthouse keeper finds a boat without a crew."
            ),
            // Notes of librarians, also if they are glued to the text.
            (
                "Librarian's note: There is an alternate cover edition of this book here.A farm in Wales is sold to two strangers who never sleep.",
                "A farm in Wales is sold to two strangers who never sleep."
            ),
            ("There is an alternate cover edition for this ISBN here.", nil),
            (
                "Note: This is an alternate-cover edition. Please do not combine. A widow rents a room to a man who never sleeps.",
                "A widow rents a room to a man who never sleeps."
            ),
            ("Originally published in 1923 and translated by the author's own daughter.", nil),
            // Sales talk.
            (
                "The #1 New York Times bestseller, now a major motion picture! Petra Vance repairs clocks in a town where time has stopped.",
                "Petra Vance repairs clocks in a town where time has stopped."
            ),
            ("A stunning, unforgettable masterpiece from the author of The Salt Road.", nil),
            ("\"A gripping read that I could not put down.\"—The Tarn Gazette", nil),
            ("THE TRUE STORY THAT WON MILLIONS OF HEARTS ACROSS THE WORLD.", nil),
            // Glued sentences.
            (
                "In a village without children, a cradle is found.Nobody claims it.",
                "In a village without children, a cradle is found."
            ),
            ("A Tarn MysteryFormer diver Jo Hale finds a body in the reservoir.", nil),
            // A text that breaks off has no good sentence.
            ("The brothers had always known that one day somebody would come back and", nil),
            ("A tale of an empty town and the truth behind its silence...", nil),
            // A sentence that depends on the one before it is not shown alone.
            (
                "A stunning debut from a prize-winning poet. But he never told her about the letter in the desk.",
                nil
            ),
            (
                "An award-winning novel. She leaves the city for the house by the sea.", nil
            ),
            // Long sentences lose a clause that they can do without.
            (
                "Mara Lind moves with her two daughters to the cold coast on which her family has fished for centuries, where neighbors, uncles, and old enemies all have an opinion about her plans for the boat.",
                "Mara Lind moves with her two daughters to the cold coast on which her family has fished for centuries."
            ),
            (
                "When the bridge falls, the ferryman has to work again for the brothers who ruined him; by winter, all three of them have a reason to wish that it had been somebody else who answered the bell.",
                "When the bridge falls, the ferryman has to work again for the brothers who ruined him."
            ),
            // Without such a clause, there is no hook: a line that breaks off is worse.
            (
                "The retired and only surviving member of the expedition that climbed the northern wall of the mountain before the war and lost its leader there is asked by a museum to identify a rope.",
                nil
            ),
            // Two short sentences.
            (
                "Farmer Holt has a problem. His hens have learned to read.",
                "Farmer Holt has a problem. His hens have learned to read."
            ),
            // A description in quotation marks.
            (
                "\"Set on a ship between two wars, this is what a steward hears through the doors. He writes all of it down.",
                "Set on a ship between two wars, this is what a steward hears through the doors."
            ),
            // Other scripts.
            (
                "灯台守は乗組員のいない小舟を見つける。翌朝、彼は消えていた。", "灯台守は乗組員のいない小舟を見つける。"
            ),
            (
                "Смотритель маяка находит в море лодку без экипажа. Утром он исчезает.",
                "Смотритель маяка находит в море лодку без экипажа."
            ),
            ("", nil), ("   ", nil), ("Short.", nil), ("• Maps • Charts • 40 tables", nil),
            ("It\u{FFFD}s the end of the world as the Tarn family knows it.", nil),
        ] as [(String, String?)])
    func picksAGoodSentenceOrNone(description: String, expected: String?) {
        #expect(hook(of: description) == expected)
    }

    /// The texts of real catalogs have every kind of fault. These are random mixtures of such pieces.
    @Test func hookOfAnyTextIsOneCompleteLine() {
        let pieces = [
            "A", "farm", "Mr.", "J.", "U.S.", "…", "...", "—", " - ", "\"", "”", "“", "(", ")", "?",
            "!", ".", ",", ";", "\n", "\n\n", "\0",
            "\u{FFFD}", "🦊", "é", "ﬀ", "\u{200D}", "مرحبا", "。", "漢字", "ISBN 9780306406157",
            "here.A", "best-selling", "who", "where",
            "When", "and", "finds", "the", "old", "house", "by the sea", "’s", "\u{301}",
            String(repeating: "x", count: 200),
        ]
        var random = SeededGenerator(8)
        for _ in 0..<2_000 {
            var text = ""
            for _ in 0..<Int.random(in: 0...60, using: &random) {
                text += pieces.randomElement(using: &random) ?? ""
                if Bool.random(using: &random) { text += " " }
            }
            guard let line = hook(of: text) else { continue }
            #expect((12...140).contains(line.unicodeScalars.count), "\(text)")
            #expect(!line.contains { $0.isNewline || $0 == "…" || $0 == "\0" }, "\(text)")
            #expect(
                line.first?.isWhitespace == false && line.last?.isWhitespace == false, "\(text)")
        }
    }

    /// Only the beginning of a description is read.
    @Test func longTextsAreCutOff() {
        for piece in ["a. ", "A,", "When ", "—", "“", "Mr. ", "\n", ". ", "漢"] {
            _ = hook(of: String(repeating: piece, count: 200_000))
        }
    }
}
