-- Why: 662 spellings of genres could not be filtered by or preferred, and books that a reader imported or wrote by hand came
-- back in the feed as cards.

-- # Genres

-- The canonical genres: what cards show, what `Query.genres` lists, and what readers filter by. Their ids never change.
DELETE FROM genres;
ALTER TABLE genres
    -- Applies only to a book without a more specific genre.
    ADD COLUMN is_general boolean NOT NULL DEFAULT false,
    ADD COLUMN is_nonfiction boolean NOT NULL DEFAULT false,
    -- The number of editions. Like `readers`, it is updated by `count_genres`.
    ADD COLUMN editions int NOT NULL DEFAULT 0;

-- Names of genres in sources, catalog files, and requests, in the form that `search_fold` returns.
CREATE TABLE genre_aliases (
    alias text PRIMARY KEY CHECK (alias = search_fold(alias) AND alias <> ''),
    genre_id smallint NOT NULL REFERENCES genres ON DELETE CASCADE
);
GRANT SELECT ON genre_aliases TO bookplate_app;

WITH canonical (id, name, is_general, is_nonfiction, aliases) AS (
    VALUES
    (1, 'Fantasy', false, false, '
        adult fantasy, dark fantasy, dragons, elves, epic fantasy, fae, faerie, faeries, fairies, fantasy,
        fantasy adventure, fantasy and magic, fantasy fiction, fantasy romance, fey, fiction fantasy,
        heroic fantasy, high fantasy, historical fantasy, imaginary places, magic, novela fantastica,
        otherworldly, paranormal fantasy, roman fantastique, steampunk, sword and sorcery, urban fantasy,
        wizards, ya fantasy, young adult fantasy
    '),
    (2, 'Science Fiction', false, false, '
        aliens, alternate history, ciencia ficcion, cyber punk, cyberpunk, dr who, futuristic,
        hard science fiction, human alien encounters, interplanetary voyages, life on other planets,
        military science fiction, robotics fiction, robots, sci fi, science fiction, science fiction and fantasy,
        science fiction fantasy, sciencefiction, scifi, sf, sf masterworks, space, space opera,
        speculative fiction, star trek, star wars, steam punk, steampunk fiction, time travel,
        time travel fiction, ya sci fi
    '),
    (3, 'Dystopian', false, false, '
        apocalypse, apocalyptic, climate fiction, distopia, distopian, dystopia, dystopian, dystopian fiction,
        dystopian novels, dystopias, post apocalypse, post apocalyptic, utopia, utopias, ya dystopia,
        ya dystopian
    '),
    (4, 'Mystery & Crime', false, false, '
        cozy mysteries, cozy mystery, crime, crime and mystery, crime fiction, crime mystery,
        crime thriller and mystery, detective, detective and mystery, detective and mystery stories,
        detective stories, detectives, hard boiled, hardboiled, historical mystery, murder mystery, mysteries,
        mystery, mystery and crime, mystery and detective, mystery and detective stories, mystery and thriller,
        mystery crime, mystery stories, noir, organized crime, police, police procedural, police procedurals,
        private investigators, psychological mystery, sherlock holmes, whodunit, women sleuths
    '),
    (5, 'Thriller', false, false, '
        assassins, conspiracy, crime thriller, espionage, espionage fiction, legal thriller, medical thriller,
        mystery suspense, mystery thriller, political thriller, psychological thriller, spies, spy, spy fiction,
        spy stories, spy thriller, spy thrillers, suspense, suspense and thriller, suspense fiction,
        suspense thriller, techno thriller, technothriller, terrorism fiction, thriller, thrillers,
        thrillers and suspense
    '),
    (6, 'Horror', false, false, '
        creepy, cthulhu mythos, ghost, ghost stories, ghosts, gothic, gothic fiction, gothic horror, halloween,
        horror, horror fiction, horror stories, horror tales, horror thriller, lovecraftian, occult fiction,
        scary, southern gothic, thriller horror, zombie, zombies
    '),
    (7, 'Paranormal', false, false, '
        angels, angels and demons, angels demons, demons, fallen angel, fallen angels, occult and supernatural,
        paranormal, paranormal fiction, paranormal romance, pnr, reverse harem, romance paranormal,
        shapeshifters, shifter, shifters, supernatural, vampire, vampire romance, vampires, vamps, werewolf,
        werewolves, witches, ya paranormal, young adult paranormal
    '),
    (8, 'Romance', false, false, '
        adult romance, amish, amish fiction, billionaire romance, category romance, chic lit, chick lit,
        chicklit, clean romance, college romance, contemporary romance, dark romance, friends to lovers,
        gay romance, gothic romance, historical romance, lesbian romance, love, love stories, love story,
        love triangle, m f romance, man woman relationships fiction, military romance, new adult, office romance,
        regency, regency fiction, regency romance, relationships fiction, rom com, romance, romance fiction,
        romance historical, romantic, romantic comedy, romantic suspense, romcom, sports romance,
        western romance, womens fiction romance, ya romance, young adult romance
    '),
    (9, 'Erotica', false, false, '
        bdsm, bdsm romance, dark erotica, erotic, erotic fiction, erotic literature, erotic romance,
        erotic stories, erotica, menage, reverse harem erotica, sexuality fiction, smut
    '),
    (10, 'Historical Fiction', false, false, '
        biographical fiction, fiction historical, historic fiction, historical, historical fiction,
        historical fiction general, historical novel, historical novels, historical stories, historicalfiction,
        medieval, regency england, tudors, victorian
    '),
    (11, 'Contemporary Fiction', false, false, '
        bildungsroman, bildungsromans, book club, city and town life, coming of age, coming of age stories,
        contemporary, contemporary fiction, contemporary women, domestic fiction, family life, family saga,
        family sagas, female friendship, friendship fiction, modern fiction, political fiction,
        psychological fiction, psychological novels, realistic, realistic fiction, sagas, school stories,
        small town and rural, urban fiction, women s fiction, womens, womens fiction, ya contemporary
    '),
    (12, 'Literary Fiction', false, false, '
        absurdist, african literature, allegories, american, american fiction, american literature,
        arabic fiction, argentine literature, asian literature, australian fiction, booker, booker prize,
        british literature, canadian literature, chinese literature, czech literature, egyptian literature,
        english fiction, english literature, epistolary, european literature, experimental fiction,
        finnish literature, french literature, german literature, hungarian literature, indian literature,
        indic fiction, indonesian literature, irish literature, italian literature, japanese literature,
        latin american, latin american literature, literary, literary fiction, literary novels, literature,
        literature in translation, magic realism, magical realism, man booker, man booker prize, metafiction,
        modernism, nobel prize, novels literary, polish literature, portuguese literature, postmodern, pulitzer,
        pulitzer prize, pulitzer prize winners, russian literature, scandinavian literature, southern,
        spanish literature, surreal, swedish literature, translated fiction, translations, turkish literature,
        world literature
    '),
    (13, 'Classics', false, false, '
        18th century, 19th century, 20th century classics, american classics, ancient literature, classic,
        classic fiction, classic lit, classic literature, classical fiction, classical literature, classics,
        classics fiction, great books, modern classic, modern classics, russian classics, the classics
    '),
    (14, 'Adventure', false, false, '
        action, action adventure, action and adventure, adventure, adventure and adventurers, adventure fiction,
        adventure stories, exploration, nautical, pirates, sea adventures, sea stories, shipwrecks, survival,
        survival fiction, survival stories, swashbuckler, treasure, voyages and travels
    '),
    (15, 'War & Military', false, false, '
        imaginary wars and battles, military, military fiction, military history fiction, military science,
        military strategy, naval history, prisoners of war, soldiers, strategy military, vietnam, war,
        war and military, war fiction, war novels, war stories, world war ii fiction
    '),
    (16, 'Westerns', false, false, '
        cowboys, frontier and pioneer life, western, western fiction, western stories, westerns, wild west
    '),
    (17, 'Myths & Fairy Tales', false, false, '
        arthurian, arthurian legend, arthurian romances, fables, fairy tale, fairy tale retellings, fairy tales,
        fairy tales and folklore, fairy tales folk tales legends and mythology, fairytale, fairytales,
        folk tales, folklore, folklore and mythology, folktales, gods, greek mythology, legend, legends,
        legends myths fables, myth, mythology, myths, myths and fairy tales, norse mythology, retelling,
        retellings
    '),
    (18, 'Humor', false, false, '
        american wit and humor, black humor, canadian wit and humor, comedy, comedy fiction, comics humor,
        dark comedy, funny, hilarious, humor, humor and satire, humor form, humorous, humorous fiction,
        humorous stories, humour, jokes, parodies, parody, satire, satire fiction, wit and humor
    '),
    (19, 'Short Stories', false, false, '
        anthologies, anthologies multiple authors, anthology, collections, novella, novellas, short fiction,
        short stories, short stories single author, short story, short story collections, stories, tales
    '),
    (20, 'Poetry', false, false, '
        american poetry, childrens poetry, english poetry, epic poetry, haiku, love poetry, lyrik, poems, poesia,
        poesie, poetry, poetry general, verse, شعر
    '),
    (21, 'Drama', false, false, '
        american drama, childrens plays, comedies, drama, english drama, french drama, greek drama,
        motion picture plays, performing arts drama, play, plays, screenplay, screenplays, shakespeare, teatro,
        theater, theatre, tragedies, tragedy
    '),
    (22, 'Graphic Novels', false, false, '
        anime, bande dessinee, cartoons, cartoons and comics, comic, comic book, comic books, comic books strips,
        comic books strips etc, comic strips, comics, comics and graphic novels, comics graphic novels,
        graphic novel, graphic novels, graphic novels and comics, graphic novels comics, manga, manhua, manhwa,
        superhero, superheroes, webtoon
    '),
    (23, 'Young Adult', false, false, '
        high school, teen, teen and young adult, teen fiction, teenage fiction, teens, teens and young adult, ya,
        ya books, ya fiction, ya lit, ya nonfiction, young adult, young adult books, young adult fiction,
        young adult general, young adult literature, young adult nonfiction, youngadult
    '),
    (24, 'Children', false, false, '
        animal fiction, baby, bedtime, beginning readers, board books, caldecott, chapter books, children,
        children books, children fiction, children s, children s books, children s lit, children s literature,
        childrens, childrens books, childrens ebooks, childrens fiction, childrens lit, childrens literature,
        childrens literature english, childrens picture books, childrens stories, early readers, easy readers,
        jugendbuch, juvenile, juvenile fiction, juvenile literature, juvenile nonfiction, juvenile works, kids,
        kids books, kinder, kinderbuch, middle grade, newbery, nursery rhymes, picture book, picture books,
        picture books for children, readers, stories in rhyme, toddlers
    '),
    (25, 'LGBTQ', false, false, '
        bisexual, femme femme, gay, gay and lesbian, gay fiction, gay men, gender and sexuality, glbt, glbtq,
        homosexuality, lesbian, lesbian fiction, lgbt, lgbt studies, lgbtq, lgbtq fiction, lgbtq plus, lgbtqia,
        lgbtqia fiction, lgbtqplus, m m contemporary, m m romance, queer, trans, transgender
    '),
    (26, 'Biography & Memoir', false, true, '
        adventurers and explorers, authors biography, autobiografia, autobiographies, autobiography,
        autobiography memoir, bio, bio memoir, biografia, biographie, biographies, biographies and memoirs,
        biographies memoirs, biography, biography and autobiography, biography and memoir,
        biography autobiography, biography memoir, celebrity, correspondence, diaries, diary, letters, memoir,
        memoir biography, memoirs, memoirs biographies, novelists biography, personal memoirs,
        personal narratives, true story
    '),
    (27, 'History', false, true, '
        19th century history, 20th century, american civil war, american history, american revolution,
        american revolutionary war, ancient, ancient and classical, ancient history, antislavery movements,
        archaeology, british history, civil war, civilization, cold war, crusades, european history, geschichte,
        great britain history, histoire, historia, historical non fiction, history, history modern, holocaust,
        military history, presidents, presidents biography, russian history, slavery, united states history,
        us history, vietnam war, world history, world war 1, world war 1914 1918, world war 1939 1945,
        world war i, world war ii, ww2, wwi, wwii
    '),
    (28, 'True Crime', false, true, '
        crime non fiction, murder, murderers, serial killers, serial murderers, true crime,
        true crime and mystery, true crime stories
    '),
    (29, 'Science & Nature', false, true, '
        animals, astronomy, astronomy space, biology, birds, botany, chemistry, climate change, cosmology,
        dinosaurs, earth sciences, ecology, ecosystems and habitats, electrons, environment,
        environmental conservation and protection, environmental science, environmental science and ecology,
        evolution, evolution biology, genetics, geography, geology, life sciences, math, mathematics,
        mathematics general, medicine, natural history, natural sciences, nature, neuroscience, oceanography,
        physics, physics general, popular science, science, science and nature, science general, space science,
        sustainability, weather, zoology
    '),
    (30, 'Technology & Computing', false, true, '
        aeronautics, artificial intelligence, aviation, coding, computer programmers, computer programming,
        computer science, computers, computers and technology, data science, electronics, engineering,
        information technology, internet, machine learning, programming, software, software engineering, tech,
        technology, technology and computing, technology and engineering, technology general, transport,
        transportation, web
    '),
    (31, 'Philosophy', false, true, '
        atheism, classical philosophy, eastern philosophy, epistemology, ethics, ethics and moral philosophy,
        existentialism, logic, metaphysics, nietzsche, nihilism, philosophers, philosophy, philosophy general,
        political philosophy, skepticism, stoic, stoicism
    '),
    (32, 'Psychology & Health', false, true, '
        abuse, addiction, aging, alternative medicine, autism, autistic spectrum disorder, behavioral economics,
        cancer, cognitive science, death, diet, diet and nutrition, diets, dreams, eating disorders, exercise,
        fitness, grief, health, health and fitness, human behavior, medical, medicine general, mental health,
        mental illness, mental illness fiction, nursing, nutrition, psych, psychoanalysis, psychology,
        psychology and health, psychology general, psychotherapy, running, self care, sex, sexuality, trauma,
        vegan nutrition, weight loss, yoga
    '),
    (33, 'Family & Relationships', false, true, '
        adoption, child rearing, childbirth, dating, divorce, families, family, family and relationships,
        fatherhood, foster care, husband and wife, infants, love and relationships, marriage, motherhood,
        mothers and daughters, parenthood, parenting, parenting and relationships, pregnancy,
        pregnancy and childbirth, relationships
    '),
    (34, 'Religion & Spirituality', false, true, '
        angels and spirit guides, apologetics, astrology, bible, bible study, bibles, body mind and spirit,
        body mind spirit, buddhism, catholic, catholicism, christian, christian fiction, christian inspirational,
        christian life, christian living, christian romance, christianity, christianity fiction, church, clergy,
        confucianism, cults, devotional, faith, hinduism, inspirational fiction, islam, jewish, judaism, lds,
        magick, meditation, mindfulness, mysticism, new age, new thought, occult, paganism, prayer,
        reincarnation, religion, religion and spirituality, religious, religious fiction, sacred texts,
        spiritual, spiritual growth, spiritual life, spirituality, sufism, taoism, tarot, thelema, theology,
        wicca, zen
    '),
    (35, 'Business & Economics', false, true, '
        accounting, advertising, buisness, business, business and economics, business and investing,
        business and management, business and money, business books, business enterprises, capitalism, careers,
        consumer behavior, corporate, economics, economics and finance, entrepreneur, entrepreneurship, finance,
        finance personal, industries, investing, investments, leadership, management, marketing, money,
        negotiation, organizational behavior, personal finance, productivity, real estate, sales, small business,
        startup, stock market, strategy
    '),
    (36, 'Self-Help', false, true, '
        autoayuda, communication, conduct of life, creativity, decision making, habits, happiness, how to,
        inspirational, motivation, motivational, motivational and inspirational, personal development,
        personal growth, self actualization, self development, self help, self improvement, self realization,
        selfhelp, success, time management
    '),
    (37, 'Politics & Society', false, true, '
        activism, african american, african american studies, african americans, anthropology, anti racist,
        civil rights, communism, conspiracy theories, crime and criminals, cultural, cultural studies, culture,
        current affairs, current events, democracy, disability, essays politics, ethnic studies, feminism,
        feminist, gender, gender studies, globalization, government, human rights, immigration, imperialism,
        international relations, journalism, journalism and media, law, marxism, media studies, political,
        political science, political science and international relations, politics, politics and government,
        politics and society, pop culture, popular culture, poverty, race, social, social conditions,
        social issues, social justice, social problems, social science, social sciences, social work, socialism,
        sociology, terrorism, urban studies, womens studies
    '),
    (38, 'Education & Reference', false, true, '
        academic, almanacs, college, curiosities and wonders, dictionaries, dictionary, education,
        education and reference, education and teaching, education general, encyclopedia, encyclopedias,
        foreign language study, grammar, homeschooling, language, language and languages, language learning,
        linguistics, reference, school, study aids, teachers, teaching, test preparation, textbook, textbooks,
        trivia
    '),
    (39, 'Travel', false, true, '
        description and travel, guidebook, guidebooks, hiking, mountaineering, outdoors, special interest travel,
        travel, travel and adventure, travel essays, travel guides, travel literature, travel writing,
        travelers writings, travelogue, voyages
    '),
    (40, 'Food & Cooking', false, true, '
        baking, beverages, brewing, chocolate, cook books, cookbook, cookbooks, cookery, cooking,
        cooking food and wine, cooking general, culinary, desserts, food, food and cooking, food and drink,
        food and wine, food writing, foodie, gastronomy, recipes, vegan, vegetarian, vegetarianism, wine
    '),
    (41, 'Home & Hobbies', false, true, '
        agriculture, antiques and collectibles, cats, chess, collectibles, costume, crafts, crafts and hobbies,
        crafts hobbies and home, diy, do it yourself, dogs, games, games and activities, gaming, gardening,
        gardens, hobbies, home and garden, home and hobbies, home improvement, horses, house and home,
        interior design, knitting, needlework, pets, puzzles, quilting, role playing games, rpg, sewing,
        video games, woodworking
    '),
    (42, 'Arts & Letters', false, true, '
        architecture, art, art and photography, art history, artists, artists monographs, arts and letters,
        arts and photography, authorship, ballet, books about books, books and reading, cinema, creative writing,
        criticism, dance, design, drawing, english language, essays, fashion, film, film and video, graphic arts,
        graphic design, history and criticism, language arts and disciplines, librarianship, libraries,
        literary collections, literary criticism, literary essays, literary theory,
        literature and fiction history and criticism, literature history and criticism, media tie in,
        motion pictures, music, musicians, on writing, painting, performing arts, photography, popular music,
        publishing, rhetoric, rock music, storytelling, television, theater criticism, theory, typography,
        writing
    '),
    (43, 'Sports', false, true, '
        athletes, baseball, basketball, boxing, chess sport, climbing, cycling, fishing, football, golf, hockey,
        martial arts, olympics, running sport, soccer, sport, sports, sports and outdoors, sports and recreation,
        swimming, tennis, wrestling
    '),
    (44, 'General Fiction', true, false, '
        adult, adult fiction, belletristik, ficcion, fiction, fiction and literature, fiction fiction,
        fiction general, fictional, general fiction, general literature fiction, large type books,
        literature and fiction, novel, novela, novels, roman, romans
    '),
    (45, 'General Nonfiction', true, true, '
        adult nonfiction, general nonfiction, miscellaneous nonfiction, no ficcion, non fic, non fiction,
        nonfiction, nonfiction general, sachbuch
    ')
), inserted AS (
    INSERT INTO genres (id, name, is_general, is_nonfiction)
    SELECT id, name, is_general, is_nonfiction
    FROM canonical
)
INSERT INTO genre_aliases (alias, genre_id)
SELECT search_fold(alias), id
FROM canonical
CROSS JOIN LATERAL string_to_table(aliases, ',') AS alias;
ANALYZE genres, genre_aliases;

-- Returns the canonical genre of each name, in order of first mention and without duplicates. A name that is not an alias is
-- read as a path, such as "Fiction / Science Fiction / Space Opera" or "Dogs -- Juvenile fiction", and each step counts; in a
-- path that says fiction, steps of nonfiction do not count. Unknown names are left out. General genres count only if no
-- name has a specific one.
CREATE FUNCTION genre_ids(names text[]) RETURNS smallint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
    ids smallint[] := '{}';
    general_ids smallint[] := '{}';
    given_name text;
    step text;
    says_fiction boolean;
    found genres;
BEGIN
    FOREACH given_name IN ARRAY coalesce(names, '{}') LOOP
        SELECT g.* INTO found
        FROM genre_aliases a
        JOIN genres g ON g.id = a.genre_id
        WHERE a.alias = search_fold(given_name);
        IF found.is_general THEN
            general_ids := general_ids || found.id;
        ELSIF found.id IS NOT NULL THEN
            ids := ids || found.id;
        ELSIF given_name ~ '[-/,;>(]' THEN
            says_fiction := given_name ~* '\mfiction\M' AND given_name !~* '\mnon-?fiction\M';
            FOREACH step IN ARRAY regexp_split_to_array(given_name, '\s*[/,;>(]\s*|\s*--\s*|\s-\s') LOOP
                SELECT g.* INTO found
                FROM genre_aliases a
                JOIN genres g ON g.id = a.genre_id
                WHERE a.alias = search_fold(step);
                IF found.is_general THEN
                    general_ids := general_ids || found.id;
                ELSIF found.id IS NOT NULL AND NOT (says_fiction AND found.is_nonfiction) THEN
                    ids := ids || found.id;
                END IF;
            END LOOP;
        END IF;
    END LOOP;
    IF ids = '{}' THEN
        RETURN general_ids[1:1];
    ELSIF cardinality(ids) = 1 THEN
        RETURN ids;
    END IF;
    RETURN ARRAY(
        SELECT id
        FROM unnest(ids) WITH ORDINALITY AS mentioned (id, position)
        GROUP BY id
        ORDER BY min(position)
    );
END
$$;

-- Returns the names of the first six genres that `genre_ids` returns.
CREATE FUNCTION canonical_genres(names text[]) RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT ARRAY(
        SELECT g.name
        FROM unnest(genre_ids(names)) WITH ORDINALITY AS i (id, position)
        JOIN genres g USING (id)
        ORDER BY i.position
        LIMIT 6
    )
$$;

-- `genres` holds canonical names. `subjects` keeps the names that sources and files have given, so that an alias that is added
-- later applies to existing editions.
ALTER TABLE editions ADD COLUMN subjects text[] NOT NULL DEFAULT '{}';
UPDATE editions
SET subjects = genres, genres = canonical_genres(genres)
WHERE genres <> '{}';

-- Applies the aliases to all editions. Returns the number of editions whose genres change.
CREATE FUNCTION reassign_genres() RETURNS bigint
LANGUAGE sql AS $$
    -- There are few different lists of names, compared with the number of editions.
    WITH lists AS MATERIALIZED (
        SELECT subjects, canonical_genres(subjects) AS genres
        FROM (SELECT DISTINCT subjects FROM editions WHERE subjects <> '{}') listed
    ), changed AS (
        UPDATE editions e
        SET genres = lists.genres, updated_at = now()
        FROM lists
        WHERE e.subjects = lists.subjects AND e.genres <> lists.genres
        RETURNING e.id
    )
    SELECT count(*) FROM changed
$$;

-- Counts the editions and readers of each genre.
CREATE FUNCTION count_genres() RETURNS void
LANGUAGE sql AS $$
    UPDATE genres g
    SET editions = counted.editions, readers = counted.readers
    FROM (
        SELECT g.id, count(e.name) AS editions, coalesce(sum(e.ratings_count), 0)::bigint AS readers
        FROM genres g
        LEFT JOIN (
            SELECT name, ratings_count
            FROM editions
            CROSS JOIN LATERAL unnest(genres) AS name
        ) e ON e.name = g.name
        GROUP BY g.id
    ) counted
    WHERE counted.id = g.id AND (counted.editions, counted.readers) IS DISTINCT FROM (g.editions, g.readers)
$$;
REVOKE EXECUTE ON FUNCTION reassign_genres(), count_genres() FROM public;

-- Adds an edition that an external source returned, or fills the missing data of an existing one. Returns its id.
CREATE OR REPLACE FUNCTION save_edition(
    isbn13 text,
    isbn10 text,
    title text,
    subtitle text,
    authors text[],
    publisher text,
    published_date text,
    page_count int,
    language text,
    genres text[],
    description text,
    hook text,
    cover_links text[],
    sources text[],
    keys text[]
) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    saved uuid;
BEGIN
    INSERT INTO editions AS e (
        id, isbn13, isbn10, title, subtitle, authors, publisher, published_date, page_count, language, subjects, genres,
        description, hook, cover_links
    )
    VALUES (
        gen_random_uuid(),
        save_edition.isbn13,
        save_edition.isbn10,
        save_edition.title,
        save_edition.subtitle,
        save_edition.authors,
        save_edition.publisher,
        save_edition.published_date,
        save_edition.page_count,
        save_edition.language,
        save_edition.genres,
        canonical_genres(save_edition.genres),
        save_edition.description,
        save_edition.hook,
        save_edition.cover_links
    )
    ON CONFLICT (isbn13) DO UPDATE
    SET isbn10 = coalesce(e.isbn10, excluded.isbn10),
        subtitle = coalesce(e.subtitle, excluded.subtitle),
        authors = CASE WHEN e.authors = '{}' THEN excluded.authors ELSE e.authors END,
        publisher = coalesce(e.publisher, excluded.publisher),
        published_date = coalesce(e.published_date, excluded.published_date),
        page_count = coalesce(e.page_count, excluded.page_count),
        language = coalesce(e.language, excluded.language),
        subjects = CASE WHEN e.genres = '{}' THEN excluded.subjects ELSE e.subjects END,
        genres = CASE WHEN e.genres = '{}' THEN excluded.genres ELSE e.genres END,
        description = coalesce(e.description, excluded.description),
        hook = coalesce(e.hook, excluded.hook),
        cover_links = CASE WHEN e.cover_links = '{}' THEN excluded.cover_links ELSE e.cover_links END,
        updated_at = now()
    RETURNING e.id INTO saved;
    INSERT INTO edition_sources (source, key, edition_id)
    SELECT s.source, s.key, saved
    FROM unnest(save_edition.sources, save_edition.keys) AS s (source, key)
    ON CONFLICT DO NOTHING;
    RETURN saved;
END
$$;

-- # Works

-- Returns what identifies the author of a work: the family name and the initial of the first name. "Le Guin, Ursula K." and
-- "Ursula K. Le Guin" have the same key, and so have "Kurt Vonnegut Jr." and "K. Vonnegut". Null if there are no letters.
-- Functions that indexes use are named with their schema because pg_restore runs without a search path.
CREATE FUNCTION author_key(name text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    folded text;
BEGIN
    folded := public.search_fold(
        CASE
            WHEN position(',' IN name) = 0 OR name ~* ',\s*(jr|sr|ii|iii|iv|ph\.?d|m\.?d)\.?\s*$' THEN name
            ELSE split_part(name, ',', 2) || ' ' || split_part(name, ',', 1)
        END
    );
    folded := regexp_replace(folded, '(?<=.) (jr|sr|ii|iii|iv|phd|ph d|md|m d)$', '');
    RETURN nullif(split_part(folded, ' ', -1) || '|' || left(folded, 1), '|');
END
$$;

-- Returns the title without what differs between records of one work: brackets, a leading article, marks, case, and
-- punctuation.
CREATE FUNCTION title_key(title text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    folded text;
BEGIN
    IF title ~ '[(\[]' THEN
        folded := public.search_fold(regexp_replace(title, '\([^)]*\)|\[[^]]*\]', '', 'g'));
    ELSE
        folded := public.search_fold(title);
    END IF;
    IF split_part(folded, ' ', 1) IN ('the', 'a', 'an') THEN
        folded := substring(folded FROM position(' ' IN folded) + 1);
    END IF;
    RETURN nullif(folded, '');
END
$$;

DROP INDEX editions_work_key;

-- Returns the key that all records of a work have in common: a hash of `title_key` and of the first author's `author_key`.
-- Null without an author, and for a title without letters and digits.
CREATE OR REPLACE FUNCTION work_key(title text, authors text[]) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN hashtextextended(public.title_key(title) || '|' || public.author_key(authors[1]), 0);
END
$$;
CREATE INDEX editions_work_key ON editions (work_key(title, authors));

-- Returns the volume that a record says it is: its position in the series, or in brackets in its title what
-- follows "#", "Book", "Vol.", and the like, or a number of its own. Number words and Roman numerals become digits. Null if it says none.
CREATE OR REPLACE FUNCTION work_volume(title text, series_position text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    volume text;
    words constant text[] := '{one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve}';
    numerals constant text[] := '{i, ii, iii, iv, v, vi, vii, viii, ix, x, xi, xii}';
BEGIN
    volume := lower(coalesce(
        nullif(btrim(series_position), ''),
        substring(
            title FROM
            '[(\[][^)\]]*(?:#|\m(?:[Vv]olume|[Vv]ol|[Bb]ook|[Pp]art|[Nn]umber|[Nn]o)\M\.?)\s*([[:alnum:]]+(?:[.–-][[:alnum:]]+)*)'
        ),
        substring(title FROM '[(\[]([0-9]{1,3})[)\]]')
    ));
    RETURN coalesce(
        array_position(words, volume)::text,
        array_position(numerals, volume)::text,
        regexp_replace(replace(volume, '–', '-'), '\.0$', '')
    );
END
$$;

-- Returns the keys that a work may have in the catalog according to a title and an author that a person or an application
-- has written. They differ from `work_key` in two ways: the text may name several authors, of which each may be the first in
-- the catalog, and the title may contain the subtitle. `rest` is the text after the colon for keys without it.
CREATE FUNCTION possible_work_keys(title text, author text) RETURNS TABLE (key bigint, rest text)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE ROWS 2 AS $$
DECLARE
    author_keys text[];
    name text;
BEGIN
    author_keys := ARRAY[public.author_key(author)];
    IF author ~* '[,;&/]|\mand\M' THEN
        FOREACH name IN ARRAY (regexp_split_to_array(author, '\s*(?:[,;&/]|\mand\M)\s*', 'i'))[1:3] LOOP
            -- A single word is a part of "Family, First".
            IF name ~ '\S\s+\S' THEN
                author_keys := author_keys || public.author_key(name);
            END IF;
        END LOOP;
    END IF;
    RETURN QUERY
    SELECT DISTINCT ON (hashed.key) hashed.key, t.rest
    FROM (
        VALUES
            (public.title_key(title), NULL),
            (public.title_key(substring(title FROM '^([^:(\[]+):\s')), substring(title FROM '^[^:(\[]+:\s+(.*)$'))
    ) AS t (title, rest)
    CROSS JOIN unnest(author_keys) AS a (author)
    CROSS JOIN LATERAL (SELECT hashtextextended(t.title || '|' || a.author, 0) AS key) AS hashed
    WHERE hashed.key IS NOT NULL
    ORDER BY hashed.key, t.rest NULLS FIRST;
END
$$;

CREATE FUNCTION isbn_key(isbn13 text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT hashtextextended('isbn ' || isbn13, 0)
$$;

-- Returns the keys by which a new edition finds a book of a reader: its ISBN and its possible work keys, hashed.
CREATE FUNCTION book_link_keys(isbn13 text, title text, author text) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN array_remove(public.isbn_key(isbn13) || ARRAY(SELECT key FROM public.possible_work_keys(title, author)), NULL);
END
$$;

-- # Links of books to editions

-- How a book got its edition: the reader chose its card (this includes saved cards), it has the edition's ISBN, it was imported
-- with an external id of the edition, or its title and author are those of the edition's work.
CREATE TYPE book_link AS ENUM ('CARD', 'ISBN', 'SOURCE', 'TITLE');

ALTER TABLE books
    -- Without a meaning if the book has no edition.
    ADD COLUMN linked_by book_link NOT NULL DEFAULT 'CARD',
    -- Empty for books with an edition, so that new editions only find the others.
    ADD COLUMN link_keys bigint[]
        GENERATED ALWAYS AS (CASE WHEN edition_id IS NULL THEN book_link_keys(isbn13, title, author) END) STORED;
-- Without a pending list, because every new edition searches the index.
CREATE INDEX books_link_keys ON books USING gin (link_keys) WITH (fastupdate = off) WHERE link_keys IS NOT NULL;

-- Books that may have an edition now: a job links them. The trigger functions on `editions` add them.
CREATE TABLE books_to_link (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    book_id uuid NOT NULL,
    PRIMARY KEY (user_id, book_id)
);
ALTER TABLE books_to_link ENABLE ROW LEVEL SECURITY;
ALTER TABLE books_to_link FORCE ROW LEVEL SECURITY;
CREATE POLICY administration ON books_to_link TO current_user USING (true) WITH CHECK (true);

-- Returns the editions that books are records of, at most one for each book, and each at most once for a reader. The arrays
-- have one element for each book: its reader, its id, its ISBN, title, and author, and its id at Goodreads.
--
-- An edition with the ISBN comes first, then one with the Goodreads id, then the first record of the work with the title
-- and author. A book is compared with the records of a title as if it were one of them: if they say different volumes, only the
-- record of the same volume matches. A title without its subtitle matches only an edition that has this subtitle, or
-- none and no series: "The Hunger Games: Mockingjay" is not "The Hunger Games". Editions that another book of the
-- reader has are left out.
CREATE FUNCTION match_books(
    readers uuid[],
    ids uuid[],
    isbns text[],
    titles text[],
    authors text[],
    goodreads_ids text[]
) RETURNS TABLE (reader uuid, book_id uuid, edition_id uuid, linked_by book_link)
LANGUAGE plpgsql STABLE ROWS 2 SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH given AS MATERIALIZED (
        SELECT *
        FROM unnest(readers, ids, isbns, titles, authors, goodreads_ids) WITH ORDINALITY
            AS g (reader, id, isbn13, title, author, goodreads_id, position)
    ), exact AS (
        SELECT g.position, e.id, 'ISBN'::book_link AS linked_by, 0 AS rank
        FROM given g
        CROSS JOIN LATERAL (SELECT e.id FROM editions e WHERE e.isbn13 = g.isbn13 OFFSET 0) e
        UNION ALL
        SELECT g.position, s.edition_id, 'SOURCE', 0
        FROM given g
        CROSS JOIN LATERAL (
            SELECT s.edition_id
            FROM edition_sources s
            WHERE s.source = 'goodreads' AND s.key = g.goodreads_id
            OFFSET 0
        ) s
    ), same_title AS MATERIALIZED (
        SELECT
            g.position,
            e.id,
            k.rest,
            e.subtitle,
            e.series,
            coalesce(w.rank, 1) AS rank,
            work_volume(g.title, NULL) AS book_volume,
            work_volume(e.title, e.series_position) AS volume,
            min(work_volume(e.title, e.series_position)) OVER of_key AS first_volume,
            max(work_volume(e.title, e.series_position)) OVER of_key AS last_volume
        FROM given g
        CROSS JOIN LATERAL possible_work_keys(g.title, g.author) k
        CROSS JOIN LATERAL (
            SELECT e.id, e.title, e.subtitle, e.series, e.series_position
            FROM editions e
            WHERE work_key(e.title, e.authors) = k.key
            OFFSET 0
        ) e
        LEFT JOIN LATERAL (SELECT w.rank FROM work_records w WHERE w.edition_id = e.id OFFSET 0) w ON true
        WINDOW of_key AS (PARTITION BY g.position, k.key)
    ), candidates AS (
        SELECT position, id, linked_by, rank
        FROM exact
        UNION ALL
        SELECT position, id, 'TITLE', rank + CASE WHEN rest IS NULL THEN 0 ELSE 1000 END
        FROM same_title
        WHERE (
                least(first_volume, book_volume) IS NOT DISTINCT FROM greatest(last_volume, book_volume)
                OR coalesce(volume, '') = coalesce(book_volume, '')
            )
            AND (
                rest IS NULL
                OR search_fold(subtitle) = search_fold(rest)
                OR (subtitle IS NULL AND series IS NULL AND rest !~ '[0-9#]|^([Vv]ol|[Bb]ook|[Pp]art|[Nn]o)\M')
            )
    ), best AS (
        SELECT DISTINCT ON (c.position) g.reader, g.id AS book_id, c.id AS edition_id, c.linked_by, c.position
        FROM candidates c
        JOIN given g USING (position)
        WHERE NOT EXISTS (
            SELECT
            FROM books other
            WHERE other.user_id = g.reader AND other.edition_id = c.id AND other.id <> g.id
            OFFSET 0
        )
        ORDER BY c.position, c.linked_by, c.rank, c.id
    )
    SELECT DISTINCT ON (b.reader, b.edition_id) b.reader, b.book_id, b.edition_id, b.linked_by
    FROM best b
    ORDER BY b.reader, b.edition_id, b.linked_by, b.position;
END
$$;

-- Links books to the editions that `match_books` finds, and removes links that no longer match. A link that the reader chose,
-- or that an imported id says, is kept. Returns the readers whose books changed.
CREATE FUNCTION link_books(readers uuid[], ids uuid[]) RETURNS SETOF uuid
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH found AS MATERIALIZED (
        SELECT b.user_id, b.id, b.edition_id, b.linked_by, b.isbn13, b.title, b.author
        FROM unnest(readers, ids) AS given (user_id, id)
        CROSS JOIN LATERAL (
            SELECT *
            FROM books b
            WHERE b.user_id = given.user_id AND b.id = given.id
            OFFSET 0
        ) b
        WHERE b.edition_id IS NULL OR b.linked_by IN ('ISBN', 'TITLE')
    ), matched AS (
        SELECT m.*
        FROM (
            SELECT
                array_agg(user_id) AS readers,
                array_agg(id) AS ids,
                array_agg(isbn13) AS isbns,
                array_agg(title) AS titles,
                array_agg(author) AS authors
            FROM found
        ) f
        CROSS JOIN LATERAL match_books(f.readers, f.ids, f.isbns, f.titles, f.authors, NULL) m
    ), changed AS (
        UPDATE books b
        SET edition_id = m.edition_id, linked_by = coalesce(m.linked_by, 'CARD')
        FROM found f
        LEFT JOIN matched m ON m.reader = f.user_id AND m.book_id = f.id
        WHERE b.user_id = f.user_id AND b.id = f.id AND m.edition_id IS DISTINCT FROM f.edition_id
        RETURNING b.user_id
    )
    SELECT DISTINCT user_id
    FROM changed;
END
$$;

-- Links the next books of `books_to_link`, and requests new decks for their readers. Returns the number of books that were
-- looked at, where 0 means that none is left, and the readers whose books changed.
CREATE FUNCTION link_waiting_books(count int, OUT looked_at int, OUT changed_readers uuid[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    readers uuid[];
    ids uuid[];
BEGIN
    SELECT coalesce(array_agg(w.user_id), '{}'), coalesce(array_agg(w.book_id), '{}')
    INTO readers, ids
    FROM (
        SELECT user_id, book_id
        FROM books_to_link
        ORDER BY user_id, book_id
        LIMIT count
    ) w;
    -- In one order, and before any row is locked, so that two transactions do not wait for each other.
    PERFORM take_turns(r.reader)
    FROM (SELECT DISTINCT reader FROM unnest(readers) AS reader ORDER BY reader) r;
    DELETE FROM books_to_link w
    USING unnest(readers, ids) AS taken (user_id, book_id)
    WHERE w.user_id = taken.user_id AND w.book_id = taken.book_id;
    looked_at := cardinality(ids);
    changed_readers := ARRAY(SELECT link_books(readers, ids));
    INSERT INTO jobs AS j (user_id, kind, payload, key, run_at, priority, attempts_max)
    SELECT reader, 'feed.deck', '{}', 'deck', now() + interval '5 seconds', 10, 3
    FROM unnest(changed_readers) AS reader
    ON CONFLICT (user_id, kind, key) WHERE key IS NOT NULL AND state <> 'DEAD' DO UPDATE
    SET run_at = least(j.run_at, excluded.run_at), again = j.state = 'RUNNING';
END
$$;
REVOKE EXECUTE ON FUNCTION link_waiting_books(int) FROM public;
GRANT EXECUTE ON FUNCTION link_waiting_books(int) TO bookplate_app;

-- Enqueues the job that links the books without an edition that have one of these keys.
CREATE FUNCTION enqueue_links(keys bigint[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO books_to_link (user_id, book_id)
    SELECT DISTINCT b.user_id, b.id
    FROM unnest(keys) AS k (key)
    CROSS JOIN LATERAL (
        SELECT b.user_id, b.id
        FROM books b
        WHERE b.link_keys @> ARRAY[k.key]
        OFFSET 0
    ) b
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        INSERT INTO jobs AS j (kind, payload, key, run_at, priority, attempts_max)
        VALUES ('library.link', '{}', 'link', now() + interval '1 second', 5, 10)
        ON CONFLICT (user_id, kind, key) WHERE key IS NOT NULL AND state <> 'DEAD' DO UPDATE
        SET run_at = least(j.run_at, excluded.run_at), again = j.state = 'RUNNING';
    END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION enqueue_links(bigint[]) FROM public;

-- The trigger functions on `editions` that keep `work_records` up to date and link books of readers.
CREATE OR REPLACE FUNCTION match_new_records() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    keys bigint[] := ARRAY(SELECT work_key(title, authors) FROM new_rows);
BEGIN
    PERFORM match_records(keys);
    PERFORM enqueue_links(keys || ARRAY(SELECT isbn_key(isbn13) FROM new_rows WHERE isbn13 IS NOT NULL));
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION match_removed_records() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    keys bigint[] := ARRAY(SELECT work_key(title, authors) FROM old_rows);
BEGIN
    PERFORM match_records(keys);
    -- Books of a removed edition may have another record of the work.
    PERFORM enqueue_links(keys);
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION match_changed_records() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    keys bigint[];
    new_keys bigint[];
BEGIN
    WITH changed AS MATERIALIZED (
        SELECT
            n.id,
            (n.title, n.subtitle, n.authors, n.series, n.series_position)
                IS DISTINCT FROM (o.title, o.subtitle, o.authors, o.series, o.series_position) AS is_renamed,
            CASE WHEN n.isbn13 IS DISTINCT FROM o.isbn13 THEN n.isbn13 END AS new_isbn,
            o.title AS old_title,
            n.title,
            o.authors AS old_authors,
            n.authors
        FROM new_rows n
        JOIN old_rows o USING (id)
        WHERE (
                n.title, n.subtitle, n.authors, n.series, n.series_position, n.isbn13, n.hook IS NULL, n.genres, n.language,
                n.ratings_count
            ) IS DISTINCT FROM (
                o.title, o.subtitle, o.authors, o.series, o.series_position, o.isbn13, o.hook IS NULL, o.genres, o.language,
                o.ratings_count
            )
    )
    SELECT array_agg(key), array_agg(key) FILTER (WHERE is_new) || array_agg(isbn_key(new_isbn)) FILTER (WHERE new_isbn IS NOT NULL)
    INTO keys, new_keys
    FROM (
        SELECT work_key(old_title, old_authors) AS key, false AS is_new, NULL AS new_isbn
        FROM changed
        WHERE is_renamed
        UNION ALL
        SELECT work_key(title, authors), true, NULL
        FROM changed
        WHERE is_renamed
        UNION ALL
        -- The other columns decide about the order of a work's records.
        SELECT w.work_key, false, changed.new_isbn
        FROM changed
        LEFT JOIN work_records w ON w.edition_id = changed.id
        WHERE NOT is_renamed OR new_isbn IS NOT NULL
    ) keyed;
    PERFORM match_records(coalesce(keys, '{}'));
    PERFORM enqueue_links(new_keys);
    RETURN NULL;
END
$$;

SELECT match_records(NULL);


-- # Imports

-- Finds the book of the library that a record of an import is about, and adds to it what the record knows. `known` holds the
-- ids of the library's books by their titles in lower case. With the outcome CREATED the caller stores the book;
-- `card_id` is then the edition that the record names, by its id or its ISBN.
CREATE OR REPLACE FUNCTION import_book(
    record jsonb,
    known jsonb,
    OUT outcome text,
    OUT problem text,
    OUT book_id uuid,
    OUT card_id uuid,
    OUT shelf_ids uuid[]
) LANGUAGE plpgsql AS $$
DECLARE
    owner uuid := app_user_id();
    b record;
    kept books;
    shelf uuid;
    shelf_name text;
    -- How the record names its edition.
    named_by book_link;
BEGIN
    outcome := 'SAME';
    shelf_ids := '{}';
    SELECT * INTO b
    FROM jsonb_to_record(record) AS r (
        id uuid, "cardId" uuid, title text, author text, isbn13 text, publisher text, "publishedDate" text, "pageCount" int,
        category text, genre text, description text, status reading_status, "currentPage" int, "startedAt" timestamptz,
        "finishedAt" timestamptz, shelves text[], rating int, review text
    );
    IF b.rating NOT BETWEEN 1 AND 5 OR char_length(b.review) NOT BETWEEN 1 AND 100000 THEN
        RAISE check_violation;
    END IF;
    named_by := 'CARD';
    SELECT e.id INTO card_id FROM editions e WHERE e.id = b."cardId";
    IF NOT FOUND THEN
        named_by := 'ISBN';
        SELECT e.id INTO card_id FROM editions e WHERE e.isbn13 = b.isbn13;
    END IF;

    SELECT * INTO kept FROM books k WHERE k.user_id = owner AND k.id = b.id;
    IF NOT FOUND THEN
        SELECT * INTO kept FROM books k WHERE k.user_id = owner AND k.isbn13 = b.isbn13;
    END IF;
    IF NOT FOUND THEN
        -- A book with the edition only because of its title is another copy of the work if both have an ISBN.
        SELECT * INTO kept
        FROM books k
        WHERE k.user_id = owner AND k.edition_id = card_id
            AND (k.linked_by <> 'TITLE' OR k.isbn13 IS NULL OR b.isbn13 IS NULL);
    END IF;
    IF NOT FOUND AND known ? lower(b.title) THEN
        SELECT * INTO kept
        FROM books k
        WHERE k.user_id = owner
            AND k.id = ANY(ARRAY(SELECT jsonb_array_elements_text(known -> lower(b.title))::uuid))
            AND (k.author IS NULL OR b.author IS NULL OR lower(k.author) = lower(b.author))
            AND (k.isbn13 IS NULL OR b.isbn13 IS NULL)
        ORDER BY k.added_at, k.id
        LIMIT 1;
    END IF;

    IF kept.id IS NULL THEN
        book_id := b.id;
        outcome := 'CREATED';
    ELSE
        book_id := kept.id;
        UPDATE books k
        SET author = coalesce(k.author, b.author),
            isbn13 = coalesce(
                k.isbn13,
                CASE
                    WHEN NOT EXISTS (SELECT FROM books o WHERE o.user_id = owner AND o.isbn13 = b.isbn13) THEN b.isbn13
                END
            ),
            publisher = coalesce(k.publisher, b.publisher),
            published_date = coalesce(k.published_date, b."publishedDate"),
            page_count = coalesce(k.page_count, b."pageCount"),
            category = coalesce(k.category, b.category),
            genre = coalesce(k.genre, b.genre),
            description = coalesce(k.description, b.description),
            status = CASE WHEN status_rank(b.status) > status_rank(k.status) THEN b.status ELSE k.status END,
            current_page = coalesce(k.current_page, b."currentPage"),
            started_at = coalesce(k.started_at, b."startedAt"),
            finished_at = coalesce(k.finished_at, b."finishedAt"),
            updated_at = now()
        WHERE k.user_id = owner AND k.id = kept.id
            AND (
                (k.author IS NULL AND b.author IS NOT NULL)
                OR (
                    k.isbn13 IS NULL AND b.isbn13 IS NOT NULL
                    AND NOT EXISTS (SELECT FROM books o WHERE o.user_id = owner AND o.isbn13 = b.isbn13)
                )
                OR (k.publisher IS NULL AND b.publisher IS NOT NULL)
                OR (k.published_date IS NULL AND b."publishedDate" IS NOT NULL)
                OR (k.page_count IS NULL AND b."pageCount" IS NOT NULL)
                OR (k.category IS NULL AND b.category IS NOT NULL)
                OR (k.genre IS NULL AND b.genre IS NOT NULL)
                OR (k.description IS NULL AND b.description IS NOT NULL)
                OR status_rank(b.status) > status_rank(k.status)
                OR (k.current_page IS NULL AND b."currentPage" IS NOT NULL)
                OR (k.started_at IS NULL AND b."startedAt" IS NOT NULL)
                OR (k.finished_at IS NULL AND b."finishedAt" IS NOT NULL)
            );
        IF FOUND THEN
            outcome := 'UPDATED';
        END IF;
        UPDATE books k
        SET edition_id = card_id, linked_by = named_by, updated_at = now()
        WHERE k.user_id = owner AND k.id = kept.id AND k.edition_id IS NULL AND card_id IS NOT NULL
            AND NOT EXISTS (SELECT FROM books o WHERE o.user_id = owner AND o.edition_id = card_id);
        IF FOUND THEN
            outcome := 'UPDATED';
        END IF;
    END IF;

    FOREACH shelf_name IN ARRAY coalesce(b.shelves, '{}') LOOP
        shelf := import_shelf(NULL, shelf_name, NULL);
        IF shelf IS NULL THEN
            problem := 'A library has at most 500 shelves: “' || shelf_name || '” was left out.';
        ELSE
            shelf_ids := shelf_ids || shelf;
        END IF;
    END LOOP;
EXCEPTION WHEN integrity_constraint_violation OR data_exception THEN
    -- The import has checked the usual limits before. One record that the database rejects does not stop the others.
    outcome := 'FAILED';
    problem := 'This book cannot be stored.';
    shelf_ids := '{}';
END
$$;

-- Stores new books of an import in one statement. `editionId` is the edition that the record names. Books without one are
-- matched with the catalog by their Goodreads id, title, and author. Returns the ids of the books that could not be stored.
CREATE OR REPLACE FUNCTION store_imported_books(books jsonb) RETURNS uuid[]
LANGUAGE plpgsql AS $$
DECLARE
    failed uuid[] := '{}';
    one jsonb;
BEGIN
    WITH given AS MATERIALIZED (
        SELECT *
        FROM jsonb_to_recordset(store_imported_books.books) AS b (
            id uuid, "cardId" uuid, "editionId" uuid, "goodreadsId" text, title text, author text, isbn13 text,
            publisher text, "publishedDate" text, "pageCount" int, category text, genre text, description text,
            status reading_status, "currentPage" int, "addedAt" timestamptz, "startedAt" timestamptz,
            "finishedAt" timestamptz, "updatedAt" timestamptz
        )
    ), matched AS (
        SELECT m.*
        FROM (
            SELECT
                array_agg(app_user_id()) AS readers,
                array_agg(id) AS ids,
                array_agg(isbn13) AS isbns,
                array_agg(title) AS titles,
                array_agg(author) AS authors,
                array_agg("goodreadsId") AS goodreads_ids
            FROM given
            WHERE "editionId" IS NULL
        ) g
        CROSS JOIN LATERAL match_books(g.readers, g.ids, g.isbns, g.titles, g.authors, g.goodreads_ids) m
        -- A record of the same file names the edition itself.
        WHERE m.edition_id NOT IN (SELECT "editionId" FROM given WHERE "editionId" IS NOT NULL)
    )
    INSERT INTO books (
        user_id, id, edition_id, linked_by, title, author, isbn13, publisher, published_date, page_count, category, genre,
        description, status, current_page, added_at, started_at, finished_at, updated_at
    )
    SELECT
        app_user_id(),
        b.id,
        -- Another copy of the work may have the edition because of its title.
        coalesce(
            CASE
                WHEN NOT EXISTS (SELECT FROM books o WHERE o.user_id = app_user_id() AND o.edition_id = card.id) THEN card.id
            END,
            m.edition_id
        ),
        CASE
            WHEN card.id IS NULL THEN coalesce(m.linked_by, 'CARD')
            WHEN card.id = b."cardId" THEN 'CARD'
            ELSE 'ISBN'
        END,
        b.title,
        coalesce(b.author, card.authors[1]),
        coalesce(b.isbn13, card.isbn13),
        coalesce(b.publisher, card.publisher),
        coalesce(b."publishedDate", card.published_date),
        coalesce(b."pageCount", card.page_count),
        b.category,
        coalesce(b.genre, card.genres[1]),
        coalesce(b.description, card.description),
        b.status,
        b."currentPage",
        coalesce(b."addedAt", now()),
        b."startedAt",
        b."finishedAt",
        coalesce(b."updatedAt", now())
    FROM given b
    LEFT JOIN editions card ON card.id = b."editionId"
    LEFT JOIN matched m ON m.book_id = b.id;
    RETURN failed;
EXCEPTION WHEN integrity_constraint_violation OR data_exception THEN
    IF jsonb_array_length(books) = 1 THEN
        RETURN ARRAY[(books -> 0 ->> 'id')::uuid];
    END IF;
    FOR one IN SELECT * FROM jsonb_array_elements(books) LOOP
        failed := failed || store_imported_books(jsonb_build_array(one));
    END LOOP;
    RETURN failed;
END
$$;

-- Brings the next records of an import into the library, and stores how far it has come, both in one transaction. `start` is
-- the number of records that are done: if it differs from the stored one, nothing happens. Returns the new number.
--
-- New books wait, so that one statement stores many, and the change log has one entry for each. They are stored early if
-- a later record may be about one of them.
CREATE OR REPLACE FUNCTION import_records(import uuid, start int, records jsonb) RETURNS int
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    owner uuid := app_user_id();
    entry jsonb;
    book jsonb;
    result record;
    problem text;
    created_count int := 0;
    updated_count int := 0;
    reached int;
    known jsonb;
    shelf uuid;
    waiting jsonb := '[]';
    -- The ids, ISBNs, editions, and titles of the waiting books.
    waiting_keys text[] := '{}';
    keys text[];
    lines jsonb := '{}';
    failed uuid[] := '{}';
    updated_ids uuid[] := '{}';
    placed_ids uuid[] := '{}';
    placed_on uuid[] := '{}';
    reviews_of uuid[] := '{}';
    reviewed jsonb[] := '{}';
BEGIN
    SELECT i.done INTO reached
    FROM imports i
    WHERE i.user_id = owner AND i.id = import AND i.state = 'RUNNING'
    FOR UPDATE;
    IF reached IS DISTINCT FROM start THEN
        RETURN reached;
    END IF;
    PERFORM set_config('app.bulk', 'on', true);
    FOR entry IN SELECT * FROM jsonb_array_elements(records || '[{}]') LOOP
        problem := entry ->> 'problem';
        book := entry -> 'book';
        keys := ARRAY[book ->> 'id', book ->> 'isbn13', book ->> 'cardId', lower(book ->> 'title')];
        -- The empty entry after the last record stores the rest.
        IF entry = '{}' OR keys && waiting_keys THEN
            failed := failed || store_imported_books(waiting);
            waiting := '[]';
            waiting_keys := '{}';
            known := NULL;
        END IF;
        IF book IS NOT NULL THEN
            LOOP
                IF known IS NULL THEN
                    known := (
                        SELECT coalesce(jsonb_object_agg(t.title, t.ids), '{}')
                        FROM (
                            SELECT lower(k.title) AS title, jsonb_agg(k.id) AS ids
                            FROM books k
                            WHERE k.user_id = owner
                                AND lower(k.title) IN (
                                    SELECT lower(r -> 'book' ->> 'title')
                                    FROM jsonb_array_elements(records) r
                                )
                            GROUP BY 1
                        ) t
                    );
                END IF;
                SELECT * INTO result FROM import_book(book, known);
                EXIT WHEN result.outcome <> 'CREATED'
                    OR result.card_id IS NULL
                    OR result.card_id::text <> ALL(waiting_keys);
                -- A waiting book has the same edition under another ISBN or id.
                failed := failed || store_imported_books(waiting);
                waiting := '[]';
                waiting_keys := '{}';
                known := NULL;
            END LOOP;
            problem := coalesce(problem, result.problem);
            IF result.outcome = 'CREATED' THEN
                waiting := waiting || (book || jsonb_build_object('editionId', result.card_id));
                waiting_keys := waiting_keys || array_remove(keys || result.card_id::text, NULL);
                lines := lines || jsonb_build_object(book ->> 'id', entry -> 'line');
                created_count := created_count + 1;
            ELSIF result.outcome = 'UPDATED' THEN
                updated_ids := updated_ids || result.book_id;
            END IF;
            FOREACH shelf IN ARRAY result.shelf_ids LOOP
                IF result.outcome = 'CREATED' OR NOT EXISTS (
                    SELECT
                    FROM shelf_books f
                    WHERE f.user_id = owner AND f.shelf_id = shelf AND f.book_id = result.book_id
                ) THEN
                    placed_ids := placed_ids || result.book_id;
                    placed_on := placed_on || shelf;
                    IF result.outcome = 'SAME' THEN
                        result.outcome := 'UPDATED';
                    END IF;
                END IF;
            END LOOP;
            IF result.outcome <> 'FAILED' AND book ? 'rating' AND result.book_id <> ALL(reviews_of)
                AND (
                    result.outcome = 'CREATED'
                    OR NOT EXISTS (SELECT FROM reviews v WHERE v.user_id = owner AND v.book_id = result.book_id)
                )
            THEN
                reviews_of := reviews_of || result.book_id;
                reviewed := reviewed || book;
                IF result.outcome = 'SAME' THEN
                    result.outcome := 'UPDATED';
                END IF;
            END IF;
            updated_count := updated_count + (result.outcome = 'UPDATED')::int;
        ELSIF entry ? 'shelf' THEN
            PERFORM import_shelf(
                (entry -> 'shelf' ->> 'id')::uuid,
                entry -> 'shelf' ->> 'name',
                (entry -> 'shelf' ->> 'createdAt')::timestamptz
            );
        ELSIF entry ? 'swipe' THEN
            INSERT INTO swipes (user_id, edition_id, action, swiped_at)
            SELECT owner, e.id, (entry -> 'swipe' ->> 'action')::swipe_action, (entry -> 'swipe' ->> 'swipedAt')::timestamptz
            FROM editions e
            WHERE e.id = (entry -> 'swipe' ->> 'cardId')::uuid
            ON CONFLICT DO NOTHING;
        END IF;
        IF problem IS NOT NULL THEN
            INSERT INTO import_failures (user_id, import_id, line, message)
            VALUES (owner, import, (entry ->> 'line')::int, problem)
            ON CONFLICT DO NOTHING;
        END IF;
    END LOOP;

    -- The records may have completed the ISBN or the author of books without an edition.
    PERFORM link_books(array_fill(owner, ARRAY[cardinality(updated_ids)]), updated_ids)
    WHERE updated_ids <> '{}';
    INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at)
    SELECT owner, p.shelf_id, b.id, b.added_at
    FROM unnest(placed_on, placed_ids) AS p (shelf_id, book_id)
    JOIN books b ON b.user_id = owner AND b.id = p.book_id
    ON CONFLICT DO NOTHING;
    -- A review keeps its id unless another review has it.
    INSERT INTO reviews (user_id, book_id, id, rating, text, created_at, updated_at)
    SELECT
        owner,
        r.book_id,
        CASE
            WHEN r.position > 1 OR r.id IS NULL OR EXISTS (SELECT FROM reviews v WHERE v.user_id = owner AND v.id = r.id)
                THEN gen_random_uuid()
            ELSE r.id
        END,
        r.rating,
        r.text,
        coalesce(r.created_at, now()),
        coalesce(r.updated_at, r.created_at, now())
    FROM (
        SELECT
            b.id AS book_id,
            (w ->> 'reviewId')::uuid AS id,
            (w ->> 'rating')::int AS rating,
            w ->> 'review' AS text,
            coalesce((w ->> 'reviewedAt')::timestamptz, (w ->> 'finishedAt')::timestamptz) AS created_at,
            (w ->> 'reviewUpdatedAt')::timestamptz AS updated_at,
            row_number() OVER (PARTITION BY w ->> 'reviewId') AS position
        FROM unnest(reviews_of, reviewed) AS listed (book_id, w)
        JOIN books b ON b.user_id = owner AND b.id = listed.book_id
    ) r
    ON CONFLICT DO NOTHING;
    INSERT INTO import_failures (user_id, import_id, line, message)
    SELECT owner, import, (lines ->> id::text)::int, 'This book cannot be stored.'
    FROM unnest(failed) AS id
    ON CONFLICT DO NOTHING;
    -- The feed's triggers do not run during an import. Decks may contain books that are in the library now.
    UPDATE feed_decks
    SET touched_at = now()
    WHERE user_id = owner AND touched_at IS NULL;
    UPDATE imports i
    SET done = i.done + jsonb_array_length(records),
        created = i.created + created_count - cardinality(failed),
        updated = i.updated + updated_count,
        updated_at = now()
    WHERE i.user_id = owner AND i.id = import
    RETURNING i.done INTO reached;
    RETURN reached;
END
$$;

-- # The feed of today
--
-- Its functions read genres by name. The redesign of the feed removes them, and this section with them.
DO $do$
BEGIN
    IF to_regclass('feed_order') IS NULL THEN
        RETURN;
    END IF;
    EXECUTE $sql$
CREATE OR REPLACE FUNCTION public.place_editions(ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
begin
  with wanted as materialized (
    select distinct on (e.id, g.id) coalesce(g.id, 0) as genre_id, e.primary_id, e.position, e.id as edition_id
    from (
      select e.id, e.genres, coalesce(first.id, 0) as primary_id,
        -- The popularity's 29 bits count in 1/16777216 of its logarithm.
        case when old.position >> 61 = t.tier
          and abs((old.position >> 32 & 536870911) - (new.position >> 32 & 536870911)) < 0.05 * 16777216
          then old.position else new.position end as position
      from unnest(ids) as given (id)
      join editions e using (id)
      left join lateral (select (genre_ids(e.genres))[1] as id) first on true
      cross join lateral (select case
        when split_part(e.language, '-', 1) <> (select main_language from feed_state) then 3
        when e.hook is null or first.id is null then 2 else 0 end as tier) t
      cross join lateral (select feed_position(t.tier, e.popularity, e.number) as position) new
      left join feed_order old on old.edition_id = e.id and old.genre_id = old.primary_id
    ) e
    left join lateral (select unnest(genre_ids(e.genres)) as id
      union select e.primary_id) g on true
    order by e.id, g.id
  ), gone as (
    delete from feed_order f where f.edition_id = any(ids) and not exists (
      select from wanted w where w.edition_id = f.edition_id and w.genre_id = f.genre_id
        and w.primary_id = f.primary_id and w.position = f.position)
  )
  insert into feed_order (genre_id, primary_id, position, edition_id)
    select genre_id, primary_id, position, edition_id from wanted
    order by genre_id, primary_id, position
    on conflict do nothing;
end
$function$
    $sql$;
    EXECUTE $sql$
CREATE OR REPLACE FUNCTION public.refresh_feed_order()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  update feed_state set main_language = found.language
    from (select split_part(language, '-', 1) as language from editions where language is not null
      group by 1 order by count(*) desc, 1 limit 1) found
    where main_language is distinct from found.language;
  if found then
    perform match_records(null);
  end if;
  perform place_editions(array(select id from editions));
  perform count_genres();
  -- Frontiers that would have to look at many new places begin again. None is made until this is committed, so none
  -- misses this change.
  perform pg_advisory_xact_lock(20261121);
  update feed_state set frontiers_valid_since = clock_timestamp()
    where 1000 < (select count(*) from (select from feed_order
      where genre_id = primary_id and placed_at > frontiers_valid_since limit 1001) newer);
end
$function$
    $sql$;
END
$do$;
