"""The genres of the starter catalog, and the readers' tags that count as votes for each genre.

Tags that name an author, a place, a year, or a habit ("to-read", "owned") do not count. Tags are compared in lower
case. The order of the genres is the default order in which they are shown.
"""

GENRES = {
    # Fiction
    "Fantasy": """fantasy high-fantasy epic-fantasy magic urban-fantasy ya-fantasy dragons faeries fae
        fairies fey faerie mythology greek-mythology fairy-tales fairy-tale fairytales fairytale
        retellings retelling fairy-tale-retellings dark-fantasy wizards arthurian steampunk elves
        fantasy-fiction fiction-fantasy adult-fantasy young-adult-fantasy historical-fantasy""",
    "Science Fiction": """science-fiction sci-fi scifi sf space-opera time-travel aliens cyberpunk space
        futuristic alternate-history robots star-wars speculative-fiction ya-sci-fi sciencefiction
        steam-punk cyber-punk sf-masterworks""",
    "Dystopian": """dystopian dystopia post-apocalyptic apocalyptic apocalypse ya-dystopian ya-dystopia
        dystopian-fiction dystopias distopia distopian post-apocalypse dystopian-novels""",
    "Mystery & Crime": """mystery crime mysteries detective crime-fiction true-crime noir cozy-mystery
        murder-mystery mystery-crime crime-mystery historical-mystery sherlock-holmes murder
        cozy-mysteries psychological-mystery detectives""",
    "Thriller": """thriller suspense thrillers espionage spy legal-thriller psychological-thriller
        crime-thriller spies assassins spy-thriller action mystery-thriller mystery-suspense
        suspense-thriller conspiracy""",
    "Horror": """horror ghosts zombies zombie gothic-horror ghost-stories scary goosebumps horror-thriller
        thriller-horror creepy gothic""",
    "Paranormal": """paranormal vampires vampire supernatural werewolves paranormal-romance witches demons
        shifters shapeshifters angels pnr vamps werewolf ya-paranormal shifter angels-demons
        angels-and-demons paranormal-fantasy fallen-angels romance-paranormal vampire-romance""",
    "Romance": """romance contemporary-romance chick-lit historical-romance romantic-suspense regency
        chicklit love-triangle love new-adult ya-romance romantic romance-historical regency-romance
        chic-lit love-story love-stories sports-romance college-romance adult-romance romancé
        romantic-comedy friends-to-lovers""",
    "Erotica": """erotica bdsm erotic-romance erotic dark-erotica erótica smut menage""",
    "Historical Fiction": """historical-fiction historical medieval victorian historic-fiction
        historicalfiction fiction-historical tudors""",
    "Contemporary Fiction": """contemporary realistic-fiction contemporary-fiction realistic coming-of-age
        ya-contemporary general-fiction modern-fiction""",
    "Literary Fiction": """literary-fiction literature literary magical-realism pulitzer pulitzer-prize
        booker-prize man-booker-prize booker modernism postmodern magic-realism epistolary
        pulitzer-prize-winners man-booker""",
    "Classics": """classics classic classic-literature classic-fiction classic-lit modern-classics clàssics
        19th-century 18th-century american-classics russian-classics the-classics""",
    "Adventure": """adventure action-adventure survival pirates nautical exploration""",
    "Humor": """humor funny comedy humour satire humorous hilarious húmor""",
    "Short Stories": """short-stories short-story anthology anthologies short-story-collections novellas""",
    "Poetry": """poetry poems verse epic-poetry شعر""",
    "Drama": """plays play theatre theater shakespeare teatro théâtre william-shakespeare""",
    "Graphic Novels": """graphic-novels comics graphic-novel manga comic-books comics-graphic-novels cómics
        comic graphic-novels-comics superheroes mangá comics-and-graphic-novels batman dc marvel
        graphic-novels-and-comics superhero vertigo""",
    # Audiences
    "Young Adult": """young-adult ya teen ya-fiction young-adult-fiction ya-lit ya-books teen-fiction
        youngadult young-adult-books young-adult-literature teens""",
    "Children": """childrens children children-s children-s-books kids middle-grade picture-books
        childrens-books kids-books picture-book juvenile children-s-literature children-s-lit
        juvenile-fiction chapter-books caldecott newbery childrens-lit children-books
        childrens-literature board-books dr-seuss""",
    "LGBTQ": """lgbt lgbtq queer glbt lgbtqia gay lesbian glbtq m-m-romance""",
    # Nonfiction
    "Biography & Memoir": """biography memoir memoirs autobiography biography-memoir biographies
        memoir-biography bio bio-memoir biographies-memoirs autobiographies autobiography-memoir
        biography-autobiography memoirs-biographies true-story""",
    "History": """history american-history military-history holocaust civil-war presidents ancient-history
        us-history wwii world-war-ii ww2 historical-non-fiction slavery""",
    "Science & Nature": """science physics biology evolution nature environment medicine math mathematics
        neuroscience popular-science astronomy genetics animals technology cosmology dinosaurs
        climate-change ecology""",
    "Philosophy": """philosophy existentialism political-philosophy atheism ethics nietzsche stoicism""",
    "Psychology & Health": """psychology health parenting nutrition mental-illness mental-health
        medical psych autism addiction fitness behavioral-economics running yoga pregnancy brain""",
    "Religion & Spirituality": """religion spirituality christian theology christianity spiritual religious
        faith christian-living buddhism islam apologetics bible lds christian-fiction judaism
        christian-life mindfulness meditation zen christian-non-fiction prayer""",
    "Business & Economics": """business economics leadership finance management marketing entrepreneurship
        investing personal-finance money productivity business-books startup strategy""",
    "Self-Help": """self-help self-improvement personal-development self-development inspirational
        personal-growth motivational happiness creativity""",
    "Politics & Society": """politics sociology feminism race political social-justice journalism education
        anthropology political-science feminist social-science law civil-rights poverty culture
        communism terrorism social-issues""",
    "Travel": """travel travel-writing mountaineering outdoors hiking""",
    "Food & Cooking": """food cooking cookbooks cookbook food-writing foodie cook-books""",
    "Arts & Letters": """art music writing books-about-books essays design photography language
        architecture reference on-writing art-history linguistics film graphic-design""",
    "Sports": """sports sport baseball football soccer basketball""",
}

#: Genres of fiction and of nonfiction. Tags decide which of the two a book is; it keeps only the genres of that side.
FICTION = frozenset(list(GENRES)[: list(GENRES).index("Adventure") + 1])
NONFICTION = frozenset(list(GENRES)[list(GENRES).index("Biography & Memoir") :])

#: Tags that only distinguish fiction from nonfiction.
FICTION_TAGS = frozenset("fiction novels novel adult-fiction fiction-to-read to-read-fiction".split())
NONFICTION_TAGS = frozenset("non-fiction nonfiction non-fic to-read-non-fiction to-read-nonfiction".split())

GENRE_OF_TAG = {tag: genre for genre, tags in GENRES.items() for tag in tags.split()}

#: The maximum number of genres per book, and the minimum share of a genre's votes compared with the best genre.
GENRES_MAX = 5
VOTE_SHARE_MIN = 0.12


def genres_of(votes):
    """Returns the genres of a book, best first. `votes` is the number of readers by tag."""
    scores = {}
    fiction = nonfiction = 0
    for tag, count in votes.items():
        genre = GENRE_OF_TAG.get(tag)
        if genre:
            scores[genre] = scores.get(genre, 0) + count
        if tag in FICTION_TAGS:
            fiction += count
        if tag in NONFICTION_TAGS:
            nonfiction += count
    if fiction != nonfiction:
        other_side = NONFICTION if fiction > nonfiction else FICTION
        kept = {genre: score for genre, score in scores.items() if genre not in other_side}
        scores = kept or scores
    best = max(scores.values(), default=0)
    ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return [genre for genre, score in ranked if score >= best * VOTE_SHARE_MIN][:GENRES_MAX]
