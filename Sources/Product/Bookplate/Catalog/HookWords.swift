/// The words by which `hook(of:)` judges sentences. Lists of phrases are compared with the words of a sentence in lower case, each between
/// spaces: a phrase that ends without a space also matches longer words.
extension HookSentence {
    static let abbreviations: Set<String> = [
        "adm", "approx", "bros", "ca", "capt", "cf", "cmdr", "co", "col", "det", "dept", "dr", "ed",
        "eds", "esq", "ft", "gen", "gov", "hon",
        "inc", "insp", "jr", "lt", "ltd", "maj", "messrs", "mlle", "mme", "mr", "mrs", "ms", "mt",
        "no", "nos", "pp", "pres", "prof", "rep",
        "rev", "sen", "sgt", "sr", "st", "trans", "univ", "vol", "vs",
    ]

    static let notes = PhraseList([
        " ad promo", " all rights reserved", " alternate cover", " alternate edition",
        " alternative cover", " also published", " asin ",
        " audio cassette", " audiobook", " back cover", " black and white", " bonus ", " book by ",
        " book description", " cliffsnotes", " color photographs",
        " content warning", " copyright", " cover edition", " cover note", " ebook", " e book",
        " edited by ", " edited and ",
        " critical edition", " dear reader", " edition features", " edition here",
        " edition includes", " edition of this book", " editions here", " editorial review",
        " facsimile", " first printing", " first published", " foreword by", " free pdf",
        " collecting all ", " do not combine", " found here", " from the book",
        " from the publisher",
        " full color", " hardcover", " has been reworked", " have been reworked", " here and here",
        " http", " illustrated by ", " illustrations by",
        " in one volume", " includes a ", " includes an ", " introduction by", " isbn", " kindle",
        " large print", " librarian", " movie tie in",
        " new edition", " newly revised", " omnibus", " originally published", " paperback",
        " photographs", " please note", " preface by",
        " preface", " previously published", " published as ", " published by ", " published in ",
        " reading order", " reissue", " reprint",
        " reproduction", " revised and ", " see here", " source wikipedia", " sparknotes",
        " standalone",
        " stand alone", " study guide", " table of contents",
        " this collection", " this edition", " this volume", " translated by ", " trigger warning",
        " unabridged", " updated edition",
        " was originally", " with an introduction", " writers include", " included are ",
        " pseudonym", " student edition", " www ",
    ])

    static let salesTalk = PhraseList([
        " acclaim", " amazon", " american classic", " and here", " at her best", " at his best",
        " award ", " award winning", " awards ",
        " barnes noble", " beautifully written", " beloved author", " beloved classic",
        " best loved", " best sell", " best written",
        " bestsell", " blockbuster", " booker", " booklist", " boston globe", " brilliant new",
        " buy this", " caldecott", " classic novel",
        " classic of", " classic story", " classic tale", " classic work", " companion to",
        " cool new", " copies in print", " copies sold",
        " critically", " critics ", " cult classic", " debut", " definitive", " dont miss",
        " download", " eagerly awaited",
        " edge of your seat", " entertainment weekly", " essential guide", " essential reading",
        " ever written", " fans of ", " fans will",
        " film adaptation", " finalist", " first novel", " free with", " from the author",
        " from the creator", " from the godfather",
        " game guide", " greatest novel", " greatest works", " gripping", " hbo ",
        " highly anticipated", " hilarious", " hugo award", " in this book",
        " inimitable", " instant classic", " international best", " international sensation",
        " internationally", " introducing ", " kirkus",
        " landmark ", " latest installment", " latest novel", " laugh out loud",
        " legendary author", " library journal",
        " literary event", " literary history", " literary sensation", " literary talent",
        " long awaited", " longlisted",
        " major motion picture", " masterful", " masterpiece", " masterwork", " million copies",
        " million readers", " millions of copies",
        " millions of readers", " modern classic", " most anticipated", " most beloved",
        " most enduring", " most famous", " most important",
        " most popular", " motion picture", " must have", " must read", " nebula award", " netflix",
        " new york times", " newbery",
        " next installment", " nobel prize", " nominated", " now a major", " number one bestsell",
        " of all time", " once again proves",
        " one of the best", " excellent", " one of the finest", " one of the great", " seminal",
        " one of the most", " oprah", " order now", " page after page", " page turn", " pageturn",
        " perfect for", " perfect gift", " phenomenon", " praise for", " prima official",
        " prize winn", " prize for", " proves once again",
        " publishers weekly", " publishing event", " pulitzer", " rave reviews", " readers ",
        " recommended", " roller coaster", " shortlisted",
        " sold more", " sold over", " spellbinding", " storyteller", " storytelling",
        " strong selling", " stunning new", " sunday times",
        " tale for the ages", " television series", " the author of", " the guardian",
        " the perfect ", " thrill ride",
        " timeless classic", " touching true story", " tour de force", " triumphant return",
        " true crime classic", " tv series",
        " unforgettable", " unputdownable", " usa today", " washington post", " winner of",
        " world literature",
        " world s most", " worldwide", " you wont want", " youll ", " #1 ",
    ])

    /// Words that are more often praise than plot.
    static let weakWords = PhraseList([
        " amazing", " author ", " blistering", " book ", " books ", " breathtaking", " brilliantly",
        " captivating", " chilling",
        " classic ", " collection of", " compelling", " daring new", " dazzling", " delightful",
        " electrifying", " enchanting", " engrossing",
        " enthralling", " epic ", " explosive", " extraordinary", " fast paced", " finest",
        " groundbreaking", " haunting",
        " heartbreaking", " heart stopping", " heartwarming", " in the series", " incredible",
        " inspirational", " inspiring", " installment",
        " irresistible", " irreverent", " lively ", " luminous", " list ", " lyrical",
        " magnificent", " masterly", " memoir", " memorable", " mesmerizing", " moving story",
        " new novel", " nobel", " novel ", " novella", " poignant", " powerful", " praise",
        " prequel", " provocative", " pulse pounding",
        " remarkable", " richly", " riveting", " saga ", " sensational", " sequel", " shocking",
        " sizzling", " sparkling", " steamy", " stirring",
        " story of", " stunning", " superb", " suspenseful", " tale of", " tells the story",
        " this is the story", " thought provoking", " thrilling",
        " thriller ", " trilogy", " volume", " wickedly", " witty", " wonderful story", " writing ",
        " this work",
    ])

    /// Words of a text that speaks of the reader or the writer.
    static let persons = PhraseList([" you ", " your ", " we ", " our ", " i ", " my ", " us "])

    /// Words at the beginning of a sentence that depends on the one before it.
    static let connectives: Set<String> = [
        "additionally", "also", "although", "and", "because", "besides", "but", "furthermore",
        "however", "including", "instead", "likewise",
        "meanwhile", "moreover", "nevertheless", "nor", "or", "otherwise", "plus", "so",
        "therefore", "thus", "which", "with", "written", "yet",
        "complemented", "description", "overview", "summary", "synopsis", "featuring", "contains",
        "includes",
    ]
    /// Words at the beginning of a sentence that refer to an earlier one.
    static let references: Set<String> = [
        "accompanied", "addition", "after", "afterwards", "all", "along", "another", "both",
        "characteristically", "different", "each", "either",
        "even", "eventually", "everything", "for", "he", "her", "here", "hes", "his", "how", "i",
        "it", "its", "just", "later", "maybe", "perhaps", "theres", "thanks", "taken", "again",
        "there", "finally", "first", "at", "more", "my", "neither", "no",
        "none", "not", "nothing", "now", "one", "only", "other", "others", "our", "she", "shes",
        "some", "soon", "still", "such", "that", "thats", "their",
        "then", "these", "they", "theyre", "this", "those", "throughout", "worse", "together",
        "until", "we",
        "what", "who", "why", "you", "your", "as",
        "if", "since", "find", "through",
    ]
    static let pronouns: Set<String> = [
        "he", "she", "they", "his", "her", "their", "him", "them", "it", "its", "this", "these",
        "those", "we", "our", "i", "my",
    ]
    /// Words at the beginning of a sentence that speaks to the reader.
    static let invitations: Set<String> = [
        "come", "discover", "dive", "enter", "experience", "explore", "find", "follow", "get", "go",
        "imagine", "join", "learn", "let", "meet", "prepare",
        "read", "take", "welcome",
    ]
    /// Words that begin a clause after which the main clause follows.
    static let subordinators: Set<String> = [
        "after", "although", "as", "at", "before", "born", "by", "despite", "during", "following",
        "for", "from", "growing", "having", "if", "in",
        "it", "on", "once", "raised", "set", "since", "though", "under", "unless", "until", "when",
        "whether", "while", "with", "living", "haunted",
        "hired", "married", "orphaned", "based", "left", "faced", "to",
    ]
    /// Words with which no sentence ends.
    static let openWords: Set<String> = [
        "a", "about", "an", "and", "as", "at", "but", "by", "for", "from", "his", "her", "in",
        "into", "is", "its", "of", "on", "or", "that", "the",
        "their", "to", "was", "who", "with", "are", "when", "where", "after", "before", "if", "mr",
        "mrs", "dr", "than", "one", "only", "also",
    ]
    /// Verbs of main clauses in descriptions. A clause with another verb is not shortened.
    static let verbs: Set<String> = [
        "accepts", "accompanies", "agrees", "argues", "arrives", "attempts", "awakens", "battles",
        "became", "become", "becomes", "began", "begin",
        "begins", "believes", "bring", "brings", "brought", "came", "can", "carries", "chronicles",
        "claims", "come", "comes", "could", "crashes", "dares",
        "deals", "decide", "decides", "describes", "did", "discover", "discovered", "discovers",
        "discusses", "does", "dreams", "embark", "embarks",
        "encounters", "enlists", "enter", "enters", "escape", "escapes", "examines", "explains",
        "explores", "face", "faces", "falls", "fear", "fears",
        "fell", "fight", "fights", "find", "finds", "flees", "focuses", "follows", "forces",
        "fought", "found", "gets", "gives", "goes", "grew", "grows", "had",
        "has", "hates", "have", "help", "helps", "hides", "hires", "hopes", "inherits",
        "investigates", "is", "are", "was", "were", "isn", "join", "joins", "keeps", "kidnaps",
        "knew",
        "know", "knows", "leads", "learn", "learned", "learns", "leave", "leaves", "left", "live",
        "lived", "lives", "longs", "looks", "lost", "loses", "loved", "loves", "made",
        "make", "makes", "marries", "may", "meet", "meets", "met", "moved", "moves", "must", "need",
        "needs", "offers", "plans", "plots", "presents", "provides", "refuses",
        "relates", "relies", "remembers", "rescues", "retreats", "return", "returned", "returns",
        "reveals", "ran", "runs", "saw", "search", "searches", "sees", "seek", "seeks",
        "seems", "sends", "sent", "set", "sets", "shares", "should", "shows", "stands", "start",
        "starts", "struggle", "struggles", "stumbles", "survives", "suspects",
        "take", "takes", "teaches", "thinks", "thought", "threatens", "took", "traces", "travel",
        "travels", "tried", "tries", "try", "turned", "turns",
        "uncovers", "uses", "wakes", "wants", "wanted", "watches", "went", "will", "wins", "wishes",
        "won", "work", "works", "would",
    ]
}

/// Phrases that are searched for in a text of words in lower case, with a space before and after each word.
struct PhraseList {
    /// The phrases by their first two letters.
    private let phrases: [UInt16: [[UInt8]]]

    /// - Parameter phrases: Each begins with a space, and has two more characters.
    init(_ phrases: [String]) {
        self.phrases = Dictionary(grouping: phrases.map { Array($0.utf8) }) {
            Self.key($0[1], $0[2])
        }
    }

    func isIn(_ words: [UInt8]) -> Bool { count(in: words, max: 1) > 0 }

    /// Returns how often a phrase of the list is in the text.
    func count(in words: [UInt8], max: Int = .max) -> Int {
        var count = 0
        for index in words.indices.dropLast(2) where words[index] == UInt8(ascii: " ") {
            for phrase in phrases[Self.key(words[index + 1], words[index + 2])] ?? []
            where words[index...].starts(with: phrase) {
                count += 1
                if count == max { return count }
            }
        }
        return count
    }

    private static func key(_ first: UInt8, _ second: UInt8) -> UInt16 {
        UInt16(first) << 8 | UInt16(second)
    }
}
