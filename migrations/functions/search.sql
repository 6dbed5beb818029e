-- The search of the catalog and of a reader's own library.

-- MARK: The words of the catalog

-- Returns the word and what is left of it without each one of its letters. Two words that differ by one letter, or by two
-- that are swapped, have one of these forms in common.
CREATE OR REPLACE FUNCTION search_forms(word text) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$
    SELECT array_agg(DISTINCT left(word, n - 1) || substr(word, n + 1)) || word
    FROM generate_series(1, length(word)) n
$$;

-- Counts the words of all editions. Writes only the rows that change.
CREATE OR REPLACE FUNCTION refresh_search_words() RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    CREATE TEMPORARY TABLE counted ON COMMIT DROP AS
        SELECT word, ndoc AS editions
        FROM ts_stat('SELECT search_vector FROM editions')
        WHERE length(word) BETWEEN 2 AND 40;
    INSERT INTO search_words AS w (word, editions, forms)
    SELECT c.word, c.editions, CASE WHEN is_cjk(c.word) THEN '{}' ELSE search_forms(c.word) END
    FROM counted c
    LEFT JOIN search_words known ON known.word = c.word
    WHERE known.editions IS DISTINCT FROM c.editions
    ON CONFLICT (word) DO UPDATE
    SET editions = excluded.editions;
    DELETE FROM search_words w
    WHERE NOT EXISTS (
        SELECT
        FROM counted c
        WHERE c.word = w.word
    );
    DROP TABLE counted;
END
$$;

-- Calling a function of pg_trgm loads its library. Until then only a superuser may create a function with its settings.
DO $$
BEGIN
    PERFORM similarity('', '');
END
$$;

-- Returns words of the catalog that the given word may be a misspelling of: those with a common form (see search_forms),
-- or, for a long word without any, those that share most of its trigrams. A word with more letters than any word of
-- search_words has no similar words.
--
-- Comparing trigrams is the most expensive part of a search, and its cost grows with the letters. `trigram_letters` is the
-- number of letters that a search may still compare this way. The function subtracts the letters of this word, and does not
-- compare a longer word.
--
-- Relies on this plan: the indexes of search_words. enable_seqscan = off, because the planner also expects many rows with one of
-- the forms of a long word, and comparing the forms of all words takes 100 times as long. force_generic_plan, because planning
-- takes longer than the lookup. The other setting is the threshold of `%`.
CREATE OR REPLACE FUNCTION search_similar_words(misspelled text, INOUT trigram_letters int, OUT similar_words text[])
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan
SET pg_trgm.similarity_threshold = 0.35
AS $$
BEGIN
    similar_words := '{}';
    IF length(misspelled) > 40 OR is_cjk(misspelled) THEN
        RETURN;
    END IF;
    similar_words := ARRAY(
        SELECT w.word
        FROM search_words w
        WHERE w.forms && search_forms(misspelled) AND w.word <> misspelled
        ORDER BY w.editions DESC, w.word
        LIMIT CASE WHEN length(misspelled) < 6 THEN 16 ELSE 8 END
    );
    IF similar_words = '{}' AND length(misspelled) BETWEEN 6 AND trigram_letters THEN
        trigram_letters := trigram_letters - length(misspelled);
        similar_words := ARRAY(
            SELECT w.word
            FROM search_words w
            WHERE w.word % misspelled AND levenshtein(w.word, misspelled) <= length(misspelled) / 3
            ORDER BY levenshtein(w.word, misspelled), w.editions DESC, w.word
            LIMIT 4
        );
    END IF;
END
$$;

-- MARK: The catalog

-- Returns the most popular editions with one of the titles, in the form of `search_title`: at most 50. With `longest_first`, those with
-- the longest titles come before more popular ones. Spaces do not count: `firestar` and `9 11` are also the titles `fire star` and `911`.
--
-- Relies on this plan: editions_search_title. MATERIALIZED makes the planner use it. Without statistics of the titles, it read a
-- million editions in order of popularity.
CREATE OR REPLACE FUNCTION search_titled(titles text[], longest_first boolean) RETURNS uuid[]
LANGUAGE plpgsql STABLE
SET enable_seqscan = off
AS $$
BEGIN
    RETURN ARRAY(
        WITH titled AS MATERIALIZED (
            SELECT e.id, e.search_title, e.popularity
            FROM editions e
            WHERE replace(e.search_title, ' ', '') = ANY(ARRAY(SELECT replace(title, ' ', '') FROM unnest(titles) title))
        )
        SELECT t.id
        FROM titled t
        ORDER BY CASE WHEN longest_first THEN length(t.search_title) END DESC, t.popularity DESC, t.id
        LIMIT 50
    );
END
$$;

-- Returns a folded query without a leading article, or a word at the beginning or the end that says what to do with a book, or what kind
-- of book it is: `tai pan` for `the tai pan book`.
CREATE OR REPLACE FUNCTION search_without_kind(folded text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$
    SELECT regexp_replace(
        folded,
        '^(?:the|an?|book|novel|e ?book|audio ?book|read|buy|download) '
            '|(?<=.) (?:book|novel|e ?book|audio ?book|epub|pdf|kindle)$',
        '', 'g'
    )
$$;

-- Returns a text-search query whose words match only words with one of the given weights (search_vector).
CREATE OR REPLACE FUNCTION search_weighted(parts text, weights text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$
    SELECT regexp_replace(parts, '(''[^'']+''):?(\*?)', '\1:\2' || weights, 'g')
$$;

-- Returns a text-search query for the books of an author with this name: all words are in the names of the authors, or the single
-- word is the beginning of the family name of the first author.
CREATE OR REPLACE FUNCTION search_author_query(parts text[]) RETURNS tsquery
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$
    SELECT search_weighted(nullif(array_to_string(parts, ' & '), ''), CASE cardinality(parts) WHEN 1 THEN 'D' ELSE 'B' END)::tsquery
$$;

-- Returns the most popular editions that match all parts of a query. `counts` contains how many editions match each part,
-- null for a word that the catalog does not have, and `total` the number of editions. A part with the count `total` is the
-- beginning of many words or very common ones, and not looked up in the index beside other parts.
--
-- The rarest parts select editions by the index, and the other parts are compared with these rows: reading the index
-- entries of "the" takes longer than comparing the few remaining editions. If all parts are common, many popular editions
-- match them all, so the function reads editions in order of popularity instead. In both cases it reads at most 10,000 editions:
-- it returns less than all matches if common parts are seldom in the same title, or more often than expected.
--
-- Relies on this plan: a bitmap scan of editions_search_vector for the rare parts, or the first 10,000 rows of
-- editions_popularity. force_custom_plan, because the words decide which plan is cheap. enable_seqscan = off, because the planner
-- has no statistics of search_vector.
CREATE OR REPLACE FUNCTION search_candidates(parts text[], counts float8[], total float8) RETURNS uuid[]
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_custom_plan
SET enable_seqscan = off
AS $$
DECLARE
    all_parts tsquery := array_to_string(parts, ' & ')::tsquery;
    rare_parts tsquery;
    -- The expected number of editions that match all parts, and the rare parts.
    expected float8 := total;
    expected_of_rare float8 := total;
    part record;
BEGIN
    FOR part IN
        SELECT *
        FROM unnest(parts, counts) AS p (spelling, count)
        ORDER BY count NULLS FIRST
    LOOP
        IF rare_parts IS NULL OR expected_of_rare > 500 AND part.count < total THEN
            rare_parts := CASE
                WHEN rare_parts IS NULL THEN part.spelling::tsquery
                ELSE rare_parts && part.spelling::tsquery
            END;
            expected_of_rare := expected_of_rare * least(1, coalesce(part.count, 0) / total);
        END IF;
        expected := expected * least(1, coalesce(part.count, 0) / total);
    END LOOP;
    IF expected > 8000 THEN
        RETURN ARRAY(
            SELECT e.id
            FROM (
                SELECT id, search_vector, popularity
                FROM editions
                ORDER BY popularity DESC, id
                LIMIT 10000
            ) e
            -- The function instead of the operator @@, so that the index is not used.
            WHERE ts_match_vq(e.search_vector, all_parts)
            ORDER BY e.popularity DESC, e.id
            LIMIT 100
        );
    END IF;
    RETURN ARRAY(
        SELECT e.id
        FROM (
            SELECT id, popularity
            FROM editions
            WHERE search_vector @@ rare_parts AND ts_match_vq(search_vector, all_parts)
            LIMIT 10000
        ) e
        ORDER BY e.popularity DESC, e.id
        LIMIT 200
    );
END
$$;

-- Returns the words of a query. Characters of Chinese, Japanese, and Korean without white space between them are one word, with
-- spaces between them as in a folded text, which has this word only where the characters follow each other.
CREATE OR REPLACE FUNCTION search_query_words(query text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    folded text := rtrim(left(search_fold(query), 400));
BEGIN
    IF folded = '' THEN
        RETURN '{}';
    ELSIF folded = search_terms(folded) THEN
        RETURN string_to_array(folded, ' ');
    END IF;
    RETURN ARRAY(
        SELECT rtrim(left(w.word, 400))
        FROM regexp_split_to_table(query, '\s+') WITH ORDINALITY p (part, position)
        CROSS JOIN LATERAL regexp_split_to_table(
            search_fold(p.part),
            ' (?![\u2E80-\u9FFF\uAC00-\uD7A3\uF900-\uFAFF\U00020000-\U0003FFFF])'
                '|(?<![\u2E80-\u9FFF\uAC00-\uD7A3\uF900-\uFAFF\U00020000-\U0003FFFF]) '
        ) WITH ORDINALITY w (word, position)
        WHERE w.word <> ''
        ORDER BY p.position, w.position
    );
END
$$;

-- Returns a word of a query (search_query_words) as the index of words has it: neighboring characters of Chinese, Japanese, and Korean
-- are pairs.
CREATE OR REPLACE FUNCTION search_word_terms(word text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    IF strpos(word, ' ') = 0 THEN
        RETURN ARRAY[word];
    END IF;
    -- Without the last character, which is in the last pair.
    RETURN trim_array(string_to_array(search_terms(word), ' '), 1);
END
$$;

-- Returns the first twelve words of a query as the index of words has them (search_word_terms). Repeated words are left out. The
-- last word stays the last one.
CREATE OR REPLACE FUNCTION search_query_terms(query text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    words text[] := search_query_words(query);
    terms text[] := '{}';
    word text;
    term text;
BEGIN
    FOREACH word IN ARRAY words LOOP
        FOREACH term IN ARRAY search_word_terms(word) LOOP
            -- The index has the first 200 characters.
            term := left(term, 200);
            terms := array_append(array_remove(terms, term), term);
        END LOOP;
        EXIT WHEN cardinality(terms) >= 12;
    END LOOP;
    RETURN terms[1:12];
END
$$;

-- Returns a page of the editions that match a query, the best match first. The query may end in the middle of a word.
--
-- 1. Each word becomes a part of a text-search query: the word, or, if the catalog does not have it, similar words and its
--    split into two words. Two words that the catalog also has as one word match that word, too, and an alias (search_aliases)
--    matches what it stands for.
-- 2. Editions that match all parts come from the index (search_candidates), together with those whose title is the query, with or
--    without its spaces, or a word that is similar to a single word. Titles that are the query without a word such as "book"
--    (search_without_kind) are candidates, too, but do not count in step 3. If only they are found, the other words are dropped.
-- 3. If they are fewer than ten, rare words also match similar words, unless four or more words are all found. If there are still some,
--    the parts are left out one after another, the most common first, for more results. After an alias or the number of a volume, there
--    are no more results: they would be unrelated. If there are none, words must be dropped. First those are left out that no word of the
--    catalog is similar to. If that is not enough, each other word is left out in turn, and in another attempt the most common ones one
--    after another; titles that are a part of the query are candidates, too.
-- 4. Only these candidates are compared with the query letter by letter, and ranked. `is_match` is true for
--    those that match all parts of step 1. Of the records of a work, only the best match is returned. If words were dropped,
--    `dropped_words` has those that the best candidate does not contain, and the ranking ignores them. The best candidate is the one
--    with the most of the rare words of the query.
--
-- The score of a candidate is a sum. The title's similarity to the query counts, but hardly that of titles which begin with a single
-- word: they are about equally far from what the reader is typing, so their popularity decides. A title that is the query comes before
-- longer ones unless these are much better known. The weights were fitted to 8,000 queries of scripts/search/score.
--
-- If the query is the name of an author, or the family name, the author's own books are the best matches, the most popular
-- one first, before books to which the author has contributed. A title with the same words wins if it is more popular than all of them; a
-- title that is exactly the query, if it has a fifth of the readers. Otherwise this title is the second result. While a family name is
-- incomplete or misspelled, titles that begin with it or are similar are among the author's books.
--
-- The work is bounded, whatever the query contains. 400 letters and 12 words are read. A word of more than 40 letters is only
-- looked up, and trigrams are compared for words of 48 letters together. At most 1,000 words with the beginning of a word are
-- counted, at most 26 combinations of words are looked up, and at most a few hundred candidates are compared with the first 100
-- letters.
--
-- Relies on this plan: the words by the primary key of search_words, the titles by editions_search_title, and the candidates by
-- key, with the keys of their works in a nested loop. force_generic_plan, because planning takes longer than these lookups. The other
-- settings prevent scans of the whole catalog and of all its words: the planner expects too many rows.
CREATE OR REPLACE FUNCTION search_editions(query text, rows_max int, after_score float8, after_id uuid)
RETURNS TABLE (id uuid, score float8, is_match boolean, dropped_words text[])
LANGUAGE plpgsql STABLE ROWS 50
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_indexscan = on
AS $$
DECLARE
    enough CONSTANT int := 10;
    -- Characters such as ligatures fold to several letters.
    folded text := rtrim(left(search_title(query), 400));
    compared text := left(folded, 100);
    -- The query without a word such as "book" and without an article, and the titles that this may be; null if it has neither.
    bare text := left(nullif(search_without_kind(folded), folded), 100);
    bare_titles text[];
    bare_found uuid[];
    -- The query with the meanings of aliases; null without any.
    meaning text;
    words CONSTANT text[] := search_query_terms(query);
    n CONSTANT int := cardinality(words);
    -- With repeated words.
    all_words CONSTANT text[] := (search_query_words(query))[1:12];
    trigram_letters int := 48;
    total float8 := (
        SELECT greatest(reltuples, 1000)
        FROM pg_class
        WHERE oid = 'editions'::regclass
    );
    -- The parts of the query, one per word, and how many editions match each; null if the catalog does not have the word.
    parts text[] := '{}';
    counts float8[] := '{}';
    -- The same before words are joined.
    word_parts text[];
    word_counts float8[];
    -- How much each word says, to choose the ones to drop.
    weights float8[];
    -- The same without similar words of words that the catalog has.
    strict_parts text[];
    spelling text;
    count float8;
    whole_count float8;
    -- Whether the query is a single word that the catalog has, and probably complete.
    is_whole boolean;
    similar_words text[];
    split text;
    position_of_dropped int;
    -- The sequences of up to three words, which may be aliases.
    spans text[] := '{}';
    alias record;
    last int;
    meanings text[] := words;
    exact tsquery;
    by_author tsquery;
    in_title tsquery;
    -- Words of the query in the family name of the first author, and all words in the title or that name.
    first_author tsquery;
    by_title_and_author tsquery;
    candidates uuid[];
    found uuid[];
    -- The titles that the query may contain beside other words.
    titles text[];
    -- The positions of the words that may still be dropped.
    kept int[];
    is_dropping boolean := false;
    -- Whether the query is a title beside a word such as "book", and no book has all words.
    is_beside boolean := false;
    -- The query with two neighboring letters swapped, for each letter.
    swapped text[];
    -- The query without spaces.
    joined text;
    -- The query after each article, with which a title may begin.
    beginnings text[];
BEGIN
    FOR i IN 1..n LOOP
        spelling := quote_literal(words[i]);
        count := (
            SELECT w.editions
            FROM search_words w
            WHERE w.word = words[i]
        );
        whole_count := count;
        IF i = n OR length(words[i]) = 1 AND is_cjk(words[i]) THEN
            spelling := spelling || ':*';
            count := (
                SELECT CASE
                    WHEN count(*) = 1000 OR sum(w.editions) > greatest(total / 10, 10000) THEN total
                    ELSE sum(w.editions)
                END
                FROM (
                    SELECT w.editions
                    FROM search_words w
                    -- A range, because a generic plan cannot use an index for ^@.
                    WHERE w.word >= words[i] AND w.word < words[i] || U&'\+10FFFF'
                    LIMIT 1000
                ) w
            );
        END IF;
        IF count IS NULL AND length(words[i]) > 1 THEN
            SELECT s.trigram_letters, s.similar_words
            INTO trigram_letters, similar_words
            FROM search_similar_words(words[i], trigram_letters) s;
            split := (
                SELECT format('%L & %L', a.word, b.word)
                FROM generate_series(2, length(words[i]) - 2) k
                JOIN search_words a ON a.word = left(words[i], k)
                JOIN search_words b ON b.word = substr(words[i], k + 1)
                WHERE length(words[i]) <= 40
                ORDER BY least(a.editions, b.editions) DESC
                LIMIT 1
            );
            spelling := concat_ws(
                ' | ',
                spelling,
                (SELECT string_agg(quote_literal(w), ' | ') FROM unnest(similar_words) w),
                split
            );
            count := (
                SELECT sum(w.editions)
                FROM search_words w
                WHERE w.word = ANY(similar_words)
            );
            IF split IS NOT NULL THEN
                count := coalesce(count, 0) + 100;
            END IF;
        END IF;
        parts := parts || ('(' || spelling || ')');
        -- The catalog's words have at least two letters.
        counts := counts || coalesce(count, CASE WHEN length(words[i]) = 1 THEN total / 20 END);
    END LOOP;
    word_parts := parts;
    word_counts := counts;
    -- A rare word, compared with those that begin with it, is more likely the beginning of others.
    is_whole := n = 1 AND coalesce(whole_count >= count / 100, false);
    by_author := search_author_query(
        CASE
            WHEN is_whole THEN ARRAY[quote_literal(words[1])]
            -- One letter is the beginning of too many names, and a short word is similar to too many.
            WHEN n = 1 AND words[1] ~ '^[a-z0-9]$' THEN NULL
            WHEN n = 1 AND length(words[1]) < 6 THEN ARRAY[quote_literal(words[1]) || ':*']
            ELSE parts
        END
    );
    FOR i IN 1..n - 1 LOOP
        count := (
            SELECT w.editions
            FROM search_words w
            WHERE w.word = words[i] || words[i + 1]
        );
        -- Reading the index entries of all words that begin with "a" takes longer than all the rest.
        IF count IS NOT NULL AND (counts[i + 1] < total) IS NOT FALSE THEN
            parts[i] := format('(%s & %s | %L)', parts[i], parts[i + 1], words[i] || words[i + 1]);
            parts[i + 1] := parts[i];
            counts[i] := count + least(coalesce(counts[i], 0), coalesce(counts[i + 1], 0));
            counts[i + 1] := counts[i];
        END IF;
    END LOOP;
    FOR i IN 1..n LOOP
        FOR k IN 0..least(2, n - i) LOOP
            spans := spans || array_to_string(words[i:i + k], ' ');
        END LOOP;
    END LOOP;
    FOR alias IN
        SELECT a.meaning, array_length(string_to_array(a.alias, ' '), 1) AS n, a.alias
        FROM search_aliases a
        WHERE a.alias = ANY(spans)
    LOOP
        spelling := (
            SELECT string_agg(quote_literal(w), ' & ')
            FROM unnest(search_query_terms(alias.meaning)) w
        );
        FOR i IN 1..n - alias.n + 1 LOOP
            last := i + alias.n - 1;
            CONTINUE WHEN array_to_string(words[i:last], ' ') <> alias.alias OR array_position(meanings[i:last], NULL) > 0;
            -- An alias is not a misspelling of other words.
            spelling := format(
                '(%s%s | %s)',
                (SELECT string_agg(quote_literal(w), ' & ') FROM unnest(words[i:last]) w), CASE WHEN last = n THEN ':*' END, spelling
            );
            FOR k IN i..last LOOP
                parts[k] := spelling;
                -- An alias stands for few books.
                counts[k] := least(coalesce(counts[k], 0) + 100, total / 2);
                meanings[k] := CASE WHEN k = i THEN search_fold(alias.meaning) END;
            END LOOP;
            word_parts[i:last] := parts[i:last];
            word_counts[i:last] := counts[i:last];
            meaning := left(array_to_string(meanings, ' '), 100);
            EXIT;
        END LOOP;
    END LOOP;
    exact := nullif(array_to_string(parts, ' & '), '')::tsquery;
    candidates := search_titled(ARRAY[folded], false);
    IF bare IS NOT NULL THEN
        bare_titles := ARRAY[bare, 'the ' || bare, 'a ' || bare, 'an ' || bare];
        bare_found := search_titled(bare_titles, false);
    END IF;
    IF n = 1 AND meaning IS NULL THEN
        IF similar_words IS NULL AND length(folded) BETWEEN 3 AND 7 THEN
            SELECT s.similar_words
            INTO similar_words
            FROM search_similar_words(folded, 0) s;
        END IF;
        -- Not together with the query: the titles of many similar words would leave no room for it.
        candidates := candidates || search_titled(similar_words, false);
    END IF;
    IF n > 0 THEN
        candidates := candidates || search_candidates(parts, counts, total);
    END IF;
    -- After an alias or the number of a volume, books that do not match all of it are unrelated.
    IF cardinality(candidates) < enough
        AND n > 0
        AND (candidates = '{}' OR meaning IS NULL AND (n = 1 OR words[n] !~ '^[0-9]+$'))
    THEN
        strict_parts := word_parts;
        -- Beside a title, words such as "book" are dropped. They are not misspelled.
        is_beside := candidates = '{}' AND n > 1 AND coalesce(bare_found <> '{}', false);
        -- A rare word may be a misspelling that the catalog also has.
        FOR i IN 1..n LOOP
            EXIT WHEN is_beside;
            -- Several words that are all found are not misspelled.
            IF (n < 4 OR candidates = '{}') AND length(words[i]) > 2 AND counts[i] < greatest(100, total / 1000) THEN
                SELECT s.trigram_letters, s.similar_words
                INTO trigram_letters, similar_words
                FROM search_similar_words(words[i], trigram_letters) s;
                IF similar_words <> '{}' THEN
                    spelling := (SELECT string_agg(quote_literal(w), ' | ') FROM unnest(similar_words) w);
                    count := (
                        SELECT sum(w.editions)
                        FROM search_words w
                        WHERE w.word = ANY(similar_words)
                    );
                    parts[i] := format('(%s | %s)', parts[i], spelling);
                    counts[i] := counts[i] + count;
                    word_parts[i] := format('(%s | %s)', word_parts[i], spelling);
                    word_counts[i] := word_counts[i] + count;
                    IF n = 1 THEN
                        candidates := candidates || search_titled(similar_words, false);
                    END IF;
                END IF;
            END IF;
        END LOOP;
        IF NOT is_beside AND (n < 4 OR candidates = '{}') THEN
            candidates := candidates || search_candidates(parts, counts, total);
        END IF;
        IF candidates = '{}' AND n > 1 THEN
            kept := ARRAY(
                SELECT i
                FROM generate_series(1, n) i
                WHERE CASE WHEN is_beside THEN words[i] = ANY(string_to_array(bare, ' ')) ELSE word_counts[i] IS NOT NULL END
            );
            is_dropping := true;
            parts := ARRAY(SELECT word_parts[i] FROM unnest(kept) i);
            counts := ARRAY(SELECT word_counts[i] FROM unnest(kept) i);
            IF cardinality(kept) BETWEEN 1 AND n - 1 THEN
                candidates := search_candidates(parts, counts, total);
            END IF;
            IF candidates = '{}' THEN
                FOR i IN 1..cardinality(kept) LOOP
                    EXIT WHEN cardinality(kept) = 1;
                    candidates := candidates || (
                        search_candidates(
                            parts[:i - 1] || parts[i + 1:], counts[:i - 1] || counts[i + 1:], total)
                    )[:200 / n];
                END LOOP;
                titles := ARRAY(
                    SELECT array_to_string(all_words[i:k], ' ')
                    FROM generate_subscripts(all_words, 1) i
                    CROSS JOIN LATERAL generate_series(i, cardinality(all_words)) k
                    UNION ALL
                    SELECT array_to_string(all_words[:i - 1] || all_words[i + 1:], ' ')
                    FROM generate_subscripts(all_words, 1) i
                );
                found := candidates || search_titled(titles, true);
                candidates := '{}';
            END IF;
        END IF;
        WHILE cardinality(candidates) < CASE WHEN is_dropping THEN 1 ELSE enough END AND cardinality(parts) > 1 LOOP
            position_of_dropped := (
                SELECT position
                FROM unnest(counts) WITH ORDINALITY c (count, position)
                ORDER BY c.count DESC NULLS FIRST, position
                LIMIT 1
            );
            parts := parts[:position_of_dropped - 1] || parts[position_of_dropped + 1:];
            counts := counts[:position_of_dropped - 1] || counts[position_of_dropped + 1:];
            candidates := candidates || search_candidates(parts, counts, total);
        END LOOP;
        IF is_dropping THEN
            candidates := candidates[:100] || found || bare_found;
            titles := titles || bare_titles;
        END IF;
        -- One pair of the characters of a Chinese name says little.
        IF n > 1 AND (SELECT bool_or(is_cjk(w)) FROM unnest(words) w) THEN
            candidates := ARRAY(
                SELECT e.id
                FROM editions e
                WHERE e.id = ANY(candidates)
                    AND 2 * (
                        SELECT count(*)
                        FROM unnest(word_parts) part
                        WHERE e.search_vector @@ part::tsquery
                    ) >= n
            );
        END IF;
        IF is_dropping AND candidates <> '{}' THEN
            IF NOT is_beside THEN
                -- An alias says more than a rare word.
                weights := ARRAY(
                    SELECT
                        CASE
                            WHEN meanings[i] = words[i] THEN least(ln(200), ln(1 + total / (1 + word_counts[i])))
                            ELSE 2 * ln(200)
                        END
                    FROM generate_series(1, n) i
                );
                kept := (
                    SELECT ARRAY(
                        SELECT i
                        FROM generate_series(1, n) i
                        WHERE e.search_vector @@ word_parts[i]::tsquery
                    )
                    FROM editions e
                    WHERE e.id = ANY(candidates)
                    ORDER BY
                        similarity(e.search_title, compared) + word_similarity(compared, e.search_text)
                        + 0.05 * ln(1 + e.popularity)
                        + 2.5 * (
                            SELECT coalesce(sum(weights[i]), 0)
                            FROM generate_series(1, n) i
                            WHERE e.search_vector @@ strict_parts[i]::tsquery
                        ) / (SELECT sum(weight) FROM unnest(weights) weight)
                        + CASE WHEN e.search_title = ANY(titles || meanings) THEN 0.8 ELSE 0 END DESC,
                        e.id DESC
                    LIMIT 1
                );
            END IF;
            dropped_words := ARRAY(SELECT words[i] FROM generate_series(1, n) i WHERE i <> ALL(kept));
            exact := array_to_string(ARRAY(SELECT word_parts[i] FROM unnest(kept) i), ' & ')::tsquery;
            -- The words of a title are complete.
            by_author := search_author_query(
                ARRAY(SELECT CASE WHEN is_beside THEN quote_literal(words[i]) ELSE word_parts[i] END FROM unnest(kept) i)
            );
            folded := array_to_string(ARRAY(SELECT w FROM unnest(all_words) w WHERE w <> ALL(dropped_words)), ' ');
            compared := left(folded, 100);
            IF meaning IS NOT NULL THEN
                meaning := left(array_to_string(ARRAY(SELECT meanings[i] FROM unnest(kept) i), ' '), 100);
            END IF;
        END IF;
    END IF;
    -- Not before the decision to drop words: these titles do not have all words of the query.
    candidates := candidates || bare_found;
    dropped_words := coalesce(dropped_words, '{}');
    beginnings := ARRAY['the ' || folded, 'a ' || folded, 'an ' || folded];
    swapped := ARRAY(
        SELECT left(compared, i - 1) || substr(compared, i + 1, 1) || substr(compared, i, 1) || substr(compared, i + 2)
        FROM generate_series(1, length(compared) - 1) i
    );
    joined := replace(folded, ' ', '');
    first_author := search_weighted(nullif(array_to_string(word_parts, ' | '), ''), 'D')::tsquery;
    by_title_and_author := search_weighted(exact::text, 'AD')::tsquery;
    in_title := search_weighted(CASE WHEN is_whole THEN quote_literal(words[1]) ELSE exact::text END, 'A')::tsquery;
    -- A bitmap scan reads each page of the candidates once. The setting of the caller returns when the function ends.
    PERFORM set_config('enable_indexscan', 'off', true);
    RETURN QUERY
        -- MATERIALIZED, because the expressions would be computed again for the order.
        WITH scored AS MATERIALIZED (
            SELECT
                e.id,
                e.popularity,
                coalesce(w.founder_id, e.id) AS founder_id,
                coalesce(e.search_vector @@ exact, e.search_title = folded) AS matches,
                CASE
                    WHEN coalesce(NOT e.search_vector @@ by_author, true) THEN 0
                    WHEN e.search_vector @@ first_author THEN 2
                    -- Not the words of two names.
                    WHEN n = 1 OR strpos(' ' || e.search_text, ' ' || folded) > 0 THEN 1
                    ELSE 0
                END AS author_rank,
                e.search_title = folded AS is_title,
                n = 1 AND NOT is_whole AND (m.is_misspelled OR m.is_prefix) AS may_be_title,
                CASE
                    WHEN e.search_title = folded AND n = 1 AND NOT is_whole THEN 'Infinity'
                    WHEN e.search_title = folded OR m.is_misspelled AND n = 1 AND NOT is_whole THEN 5 * e.popularity
                    WHEN e.search_vector @@ in_title THEN e.popularity
                    WHEN is_whole AND e.search_vector @@ exact THEN e.popularity / 10
                END AS rival,
                -- Longer titles are about equally far from a beginning.
                CASE WHEN m.is_prefix AND n = 1 THEN 0.05::float8 ELSE 0.7 END
                    * greatest(similarity(e.search_title, compared), similarity(e.search_title, meaning), similarity(e.search_title, bare))
                    + CASE
                        -- All words are there, and comparing letters takes longer than all the rest.
                        WHEN coalesce(e.search_vector @@ exact, false) THEN 0.35::float8
                        ELSE 0.35 * greatest(word_similarity(compared, e.search_text), word_similarity(meaning, e.search_text))
                    END
                    + CASE
                        WHEN e.search_title = folded OR e.search_title = meaning THEN 1.3::float8
                        WHEN e.search_title = ANY(beginnings) THEN CASE n WHEN 1 THEN 0.4 ELSE 1 END
                        WHEN replace(e.search_title, ' ', '') = joined THEN 1.3
                        WHEN e.search_title = ANY(bare_titles) THEN 0.7
                        WHEN m.is_misspelled AND n = 1 THEN 0.8 + CASE WHEN is_whole THEN 0.17 ELSE 0.22 END * ln(1 + e.popularity)
                        WHEN m.is_misspelled THEN 0.4
                        ELSE 0
                    END
                    + CASE
                        -- A title is found even if well-known titles begin with it.
                        WHEN e.search_title = folded THEN 0.27 * ln(1 + greatest(e.popularity, 5000))
                        WHEN m.is_prefix OR replace(e.search_title, ' ', '') = joined THEN 0.27 * ln(1 + e.popularity)
                        -- The books of a series need not have its name.
                        WHEN meaning IS NOT NULL AND search_fold(e.series) = meaning THEN 0.27 * ln(1 + e.popularity)
                        WHEN n = 1 AND (e.search_vector @@ in_title OR e.search_vector @@ by_author) THEN 0.12 * ln(1 + e.popularity)
                        ELSE 0
                    END
                    + CASE
                        WHEN e.series_position = words[n]
                            AND search_fold(concat_ws(' ', e.series, e.series_position)) IN (folded, meaning)
                            THEN 1.5::float8
                        ELSE 0
                    END
                    + CASE WHEN coalesce(e.search_vector @@ exact, true) THEN 0.5::float8 ELSE 0 END
                    + CASE WHEN e.search_vector @@ by_title_and_author THEN CASE n WHEN 1 THEN 0.15::float8 ELSE 0.4 END ELSE 0 END
                    -- The query is the title and a name.
                    + CASE
                        WHEN m.is_named AND e.search_vector @@ exact THEN 0.5::float8
                        ELSE 0
                    END
                    + CASE WHEN n > 1 AND strpos(' ' || e.search_text || ' ', ' ' || folded || ' ') > 0 THEN 0.3::float8 ELSE 0 END
                    + 0.05 * ln(1 + e.popularity) AS score
            FROM editions e
            LEFT JOIN work_records w ON w.edition_id = e.id
            CROSS JOIN LATERAL (
                SELECT e.search_title ^@ folded
                    OR e.search_title ^@ beginnings[1]
                    OR e.search_title ^@ beginnings[2]
                    OR e.search_title ^@ beginnings[3]
                    OR coalesce(e.search_title ^@ meaning, false) AS is_prefix
            ) p
            CROSS JOIN LATERAL (
                SELECT
                    p.is_prefix,
                    n > 1 AND (folded ^@ (e.search_title || ' ') OR right(folded, length(e.search_title) + 1) = ' ' || e.search_title)
                        AS is_named,
                    NOT p.is_prefix
                        AND abs(length(e.search_title) - length(folded)) <= 1
                        AND (
                            levenshtein_less_equal(left(e.search_title, 101), compared, 1) <= 1
                            OR e.search_title = ANY(swapped)
                        ) AS is_misspelled
            ) m
            WHERE e.id = ANY(candidates)
        ), of_author AS (
            -- No row if the query is not an author.
            SELECT max(10 + s.author_rank + 0.1 * ln(1 + s.popularity)) FILTER (WHERE s.author_rank > 0) AS score
            FROM scored s
            HAVING max(s.popularity) FILTER (WHERE s.author_rank > 0)
                >= coalesce(max(s.rival) FILTER (WHERE s.author_rank = 0), 0)
        )
        SELECT ranked.id, ranked.score, ranked.matches AND NOT is_dropping, search_editions.dropped_words
        FROM (
            SELECT DISTINCT ON (scored.founder_id) scored.id, scored.matches, f.score
            FROM scored
            LEFT JOIN of_author a ON true
            CROSS JOIN LATERAL (
                SELECT CASE
                    WHEN a.score IS NULL THEN scored.score
                    WHEN scored.author_rank > 0 THEN 10 + scored.author_rank + 0.1 * ln(1 + scored.popularity)
                    -- Such as a biography.
                    WHEN scored.is_title THEN a.score - 0.0001
                    -- As if the author had written the book, and with ten times the readers.
                    WHEN scored.may_be_title THEN 12 + 0.1 * ln(1 + 10 * scored.popularity)
                    ELSE scored.score
                END AS score
            ) f
            ORDER BY scored.founder_id, f.score DESC, scored.id DESC
        ) ranked
        WHERE after_score IS NULL OR (ranked.score, ranked.id) < (after_score, after_id)
        ORDER BY ranked.score DESC, ranked.id DESC
        LIMIT rows_max;
END
$$;

-- MARK: A reader's own library

-- Returns a regular expression for each word of a query (search_query_words). A text with a space before and after it matches if one
-- of its words begins with the word of the query, or is a slight misspelling of it. `fahrenheit451` also matches the words `fahrenheit
-- 451`, and the words `star wars` also match `starwars`. Folded words contain no special characters.
--
-- `known` contains the words of all texts. At most 16 of them, the most similar ones, become alternatives of a word of 4 to 40
-- letters. They differ by one letter, by two if the word has more than six letters, or by two neighbors that are swapped.
CREATE OR REPLACE FUNCTION search_patterns(words text[], known text[]) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT array_agg(
        concat(
            ' (?:', q.word,
            CASE WHEN q.is_spelled THEN '|' || regexp_replace(q.word, '(.)(?=.)', '\1 ?', 'g') || ' ' END,
            '|' || q.previous || q.word, s.alternatives, ')'
        )
        ORDER BY q.position
    )
    FROM (
        SELECT
            w.word, w.position, length(w.word) AS letters, lag(w.word) OVER (ORDER BY w.position) AS previous,
            length(w.word) BETWEEN 4 AND 40 AND NOT is_cjk(w.word) AS is_spelled,
            ARRAY(
                SELECT left(w.word, n - 1) || substr(w.word, n + 1, 1) || substr(w.word, n, 1) || substr(w.word, n + 2)
                FROM generate_series(1, length(w.word) - 1) n
            ) AS swapped
        FROM unnest(words) WITH ORDINALITY w (word, position)
    ) q
    LEFT JOIN LATERAL (
        SELECT string_agg('|' || k.word || ' ', '' ORDER BY k.distance, k.word) AS alternatives
        FROM (
            SELECT w.word, levenshtein_less_equal(w.word, q.word, 2) AS distance
            FROM unnest(known) w (word)
            WHERE q.is_spelled
                AND CASE
                    WHEN abs(length(w.word) - q.letters) > 2 THEN false
                    WHEN q.letters > 6 THEN levenshtein_less_equal(w.word, q.word, 2) <= 2
                    ELSE levenshtein_less_equal(w.word, q.word, 1) <= 1 OR w.word = ANY(q.swapped)
                END
            ORDER BY distance, w.word
            LIMIT 16
        ) k
    ) s ON true
$$;

-- Returns the first twelve words of a search (search_query_words), each of at most 40 letters.
CREATE OR REPLACE FUNCTION library_search_words(search text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    RETURN ARRAY(
        SELECT rtrim(left(w.word, 40))
        FROM unnest((public.search_query_words(search))[1:12]) WITH ORDINALITY AS w (word, position)
        ORDER BY w.position
    );
END
$$;

-- Returns patterns for LIKE ALL: a searched text, between two spaces, has words that begin with the words. Folded words contain no
-- wildcards. For a text without words, the pattern matches nothing.
CREATE OR REPLACE FUNCTION library_search_patterns(search text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
    words text[] := public.library_search_words(search);
BEGIN
    IF words = '{}' THEN
        RETURN ARRAY[E'\n'];
    END IF;
    RETURN ARRAY(SELECT '% ' || word || '%' FROM unnest(words) word);
END
$$;

-- Returns the query of `books_search` for slight misspellings of words. One that differs from a word of up to six letters by one letter
-- has its first or its second half, or two letters in the middle are swapped. One that differs from a longer word by two letters has
-- its first or its last third, unless each of them has an error. Two words may be one that was split.
CREATE OR REPLACE FUNCTION similar_words_query(prefix text, words text[]) RETURNS tsquery
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    parts text[] := '{}';
    word text;
    previous text;
    own text;
    part int;
BEGIN
    FOREACH word IN ARRAY words LOOP
        IF length(word) BETWEEN 4 AND 39 THEN
            part := length(word) / CASE WHEN length(word) > 6 THEN 3 ELSE 2 END;
            own := format(
                '%L:* | %L:* | %L',
                prefix || left(word, part),
                prefix || '~' || reverse(right(word, part)),
                prefix || left(word, part - 1) || substr(word, part + 1, 1) || substr(word, part, 1) || substr(word, part + 2)
            );
        ELSE
            own := format('%L:*', prefix || word);
        END IF;
        IF previous IS NOT NULL THEN
            own := own || format(' | %L:*', prefix || left(previous || word, 40));
        END IF;
        parts := parts || format('(%s)', own);
        previous := word;
    END LOOP;
    RETURN array_to_string(parts, ' & ')::tsquery;
END
$$;

-- Returns the places in `books` of the books of a reader that match a query of `books_search`, at most `rows_max`. If they are not null,
-- books must also have one of the places of statuses (`list_rank`), match the patterns, and have the signs in the title.
--
-- Relies on this plan: a bitmap scan of books_search. PostgreSQL compares text-search queries after row-level security, and so not with
-- an index, unless the function has the owner's privileges, which `search_books` has. OFFSET 0 keeps the planner from reading all
-- books of the reader by another index. enable_seqscan = off, because the planner has no statistics of the keys of one reader.
CREATE OR REPLACE FUNCTION books_with_keys(
    owner uuid, query tsquery, rows_max int, ranks int[], patterns text[], signs text
) RETURNS tid[]
LANGUAGE plpgsql STABLE
SET enable_seqscan = off
SET max_parallel_workers_per_gather = 0
AS $$
BEGIN
    RETURN ARRAY(
        SELECT b.ctid
        FROM (
            -- Two readers may have the same prefix.
            SELECT o.ctid, o.user_id, o.status, o.title, o.search_text
            FROM books o
            WHERE book_search_keys(o.user_id, o.title, o.search_text) @@ query
            OFFSET 0
        ) b
        WHERE b.user_id = owner
            AND (books_with_keys.ranks IS NULL OR list_rank(b.status) = ANY(books_with_keys.ranks))
            AND (patterns IS NULL OR ' ' || left(b.search_text, 2000) || ' ' LIKE ALL(patterns))
            AND (books_with_keys.signs IS NULL OR strpos(b.title, books_with_keys.signs) > 0)
        LIMIT rows_max
    );
END
$$;

-- Returns the words of a search, with the words of the meaning in place of each alias (search_aliases): `the lord of the rings` for `lotr`.
CREATE OR REPLACE FUNCTION library_words_meant(words text[]) RETURNS text[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
DECLARE
    n CONSTANT int := cardinality(words);
    meanings jsonb;
    meant text[] := '{}';
    i int := 1;
    span text;
BEGIN
    meanings := (
        SELECT jsonb_object_agg(a.alias, a.meaning)
        FROM search_aliases a
        WHERE a.alias = ANY(ARRAY(
            SELECT array_to_string(words[p:p + k], ' ')
            FROM generate_series(1, n) p
            CROSS JOIN generate_series(0, 2) k
        ))
    );
    IF meanings IS NULL THEN
        RETURN words;
    END IF;
    WHILE i <= n LOOP
        FOR k IN REVERSE 2..0 LOOP
            span := array_to_string(words[i:i + k], ' ');
            IF i + k <= n AND meanings ? span THEN
                meant := meant || string_to_array(array_to_string(library_search_words(meanings ->> span), ' '), ' ');
                i := i + k + 1;
                EXIT;
            ELSIF k = 0 THEN
                meant := meant || words[i];
                i := i + 1;
            END IF;
        END LOOP;
    END LOOP;
    RETURN meant[1:12];
END
$$;

-- Returns the places in `books` of the books of a reader that have slight misspellings of the words of a search: at most `rows_max`, or
-- those among the 600 books that are compared with the words. If `ranks` is not null, books with one of these are compared first, and the
-- returned ones may have any status: one comparison also finds whether another list has a book.
CREATE OR REPLACE FUNCTION books_with_similar_words(owner uuid, words text[], terms text[], rows_max int, ranks int[]) RETURNS tid[]
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    query tsquery := similar_words_query(book_key_prefix(owner), terms);
    found tid[] := books_with_keys(owner, query, 600, ranks, NULL, NULL);
    -- Books of any status; null if `found` is enough.
    others tid[];
    patterns text[];
BEGIN
    IF ranks IS NOT NULL AND cardinality(found) < 600 THEN
        others := books_with_keys(owner, query, 600 - cardinality(found), NULL, NULL, NULL);
    END IF;
    patterns := search_patterns(
        words,
        ARRAY(
            SELECT DISTINCT k.word
            FROM books b
            CROSS JOIN string_to_table(left(b.search_text, 2000), ' ') AS k (word)
            WHERE b.user_id = owner AND b.ctid = ANY(found || others) AND length(k.word) BETWEEN 2 AND 42
            LIMIT 4000
        )
    );
    RETURN ARRAY(
        SELECT b.ctid
        FROM books b
        WHERE b.user_id = owner AND b.ctid = ANY(found || others) AND ' ' || left(b.search_text, 2000) || ' ' ~ ALL(patterns)
        LIMIT CASE WHEN others IS NULL THEN rows_max END
    );
END
$$;

-- Returns the places in `books` of the books of a reader that have most words of a search which no book has all words of, at most
-- `rows_max`. Words that no book has are dropped, such as `epub` in `dune frank herbert epub`. If that is not enough, and three words are
-- left, one of them may be missing, such as `fo` in `the lord fo the rings`. A book has at least half of the words in any case, and one of
-- them has four letters: others say too little. It has the numbers, too: they are those of volumes.
--
-- A word of less than three letters is the beginning of too many words to look it up alone. If one word may be missing, only the last one
-- may be incomplete, because the index compares complete words faster.
CREATE OR REPLACE FUNCTION books_with_most_words(owner uuid, words text[], rows_max int, ranks int[]) RETURNS tid[]
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    prefix text := book_key_prefix(owner);
    kept text[] := ARRAY(
        SELECT w.word
        FROM unnest(words) WITH ORDINALITY AS w (word, position)
        WHERE length(w.word) < 3
            OR w.word ~ '^[0-9]+$'
            OR books_with_keys(owner, format('%L:*', prefix || w.word)::tsquery, 1, NULL, NULL, NULL) <> '{}'
        ORDER BY w.position
    );
    n int := cardinality(kept);
    query tsquery;
    found tid[] := '{}';
BEGIN
    IF 2 * n < cardinality(words) OR NOT EXISTS (SELECT FROM unnest(kept) word WHERE length(word) >= 4) THEN
        RETURN '{}';
    ELSIF n < cardinality(words) THEN
        query := (SELECT string_agg(format('%L:*', prefix || word), ' & ')::tsquery FROM unnest(kept) word);
        IF books_with_keys(owner, query, 1, NULL, NULL, NULL) <> '{}' THEN
            RETURN books_with_keys(owner, query, rows_max, ranks, NULL, NULL);
        END IF;
    END IF;
    IF n < 3 OR 2 * (n - 1) < cardinality(words) THEN
        RETURN '{}';
    END IF;
    FOR missing IN 1..n LOOP
        CONTINUE WHEN kept[missing] ~ '^[0-9]+$'
            OR NOT EXISTS (SELECT FROM unnest(kept[:missing - 1] || kept[missing + 1:]) word WHERE length(word) >= 4);
        query := (
            SELECT string_agg(format(CASE position WHEN n THEN '%L:*' ELSE '%L' END, prefix || word), ' & ')::tsquery
            FROM unnest(kept) WITH ORDINALITY AS w (word, position)
            WHERE position <> missing
        );
        found := found || books_with_keys(owner, query, rows_max, ranks, NULL, NULL);
    END LOOP;
    RETURN (ARRAY(SELECT DISTINCT f FROM unnest(found) f))[1:rows_max];
END
$$;

-- Returns the books of the caller's library that match a search, at most `rows_max`, as rows of `listed_books`. A book matches if each
-- word of the search is the beginning of one of its words, or of a word of its edition. If there is none, aliases have their meaning
-- (search_aliases). If there is still none, words of at least four letters also match slight misspellings, and at last a book matches that
-- has most of the words (books_with_most_words). A text of 13 digits is an ISBN. A text without words is searched in titles as it is, if it
-- has a sign that not all titles may have. If `ranks` is not null, only books with these places of statuses (`list_rank`) are returned.
--
-- If more books have all words, those whose title begins with the search are among the returned ones; of those that match in another
-- way, any may be. The rating is only returned with `has_ratings`. The work is bounded: about `rows_max` rows are read, 600 that a
-- misspelling is compared with, and `rows_max` for each of at most twelve words that may be missing.
-- definer: a policy would keep the index of words from being used; it compares the user itself.
CREATE OR REPLACE FUNCTION search_books(
    search text, rows_max int, has_ratings boolean, ranks int[]
) RETURNS SETOF listed_books
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp
ROWS 100
AS $$
DECLARE
    owner uuid := app_user_id();
    prefix text := book_key_prefix(owner);
    folded text := rtrim(search_fold(search));
    words text[] := library_search_words(search);
    -- Characters of Chinese, Japanese, and Korean are words of the index of their own.
    terms text[] := (string_to_array(array_to_string(words, ' '), ' '))[1:40];
    signs text[];
    query tsquery;
    titled tid[];
    found tid[] := '{}';
    patterns text[];
    -- The words with those of aliases, and whether a book of any status matches them.
    meant text[];
    is_found boolean := false;
BEGIN
    IF owner IS NULL THEN
        RETURN;
    END IF;
    -- All statuses.
    IF cardinality(ranks) = 5 THEN
        ranks := NULL;
    END IF;
    IF search ~ '^97[89][0-9]{10}$' THEN
        found := ARRAY(SELECT b.ctid FROM books b WHERE b.user_id = owner AND b.isbn13 = search);
    ELSIF words = '{}' THEN
        signs := searched_signs(search);
        IF signs <> '{}' THEN
            found := books_with_keys(
                owner,
                (
                    -- In a text-search query, a backslash is doubled, as a quote is.
                    SELECT string_agg(
                        format($key$'%s!%s'$key$, prefix, replace(replace(sign, E'\\', E'\\\\'), $q$'$q$, $q$''$q$)), ' & '
                    )
                    FROM unnest(signs) sign
                )::tsquery,
                rows_max, ranks, NULL, search
            );
        END IF;
    ELSE
        query := (SELECT string_agg(format('%L:*', prefix || term), ' & ') FROM unnest(terms) term)::tsquery;
        IF cardinality(terms) > cardinality(words) THEN
            patterns := library_search_patterns(search);
        END IF;
        found := books_with_keys(owner, query, rows_max, ranks, patterns, NULL);
        IF cardinality(found) = rows_max THEN
            titled := books_with_keys(
                owner, format('%L:*', prefix || '=' || left(folded, 40))::tsquery, rows_max / 2, ranks, patterns, NULL
            );
            found := (titled || ARRAY(SELECT f FROM unnest(found) f WHERE f <> ALL(titled)))[1:rows_max];
        ELSIF found = '{}' AND (ranks IS NULL OR books_with_keys(owner, query, 1, NULL, patterns, NULL) = '{}') THEN
            -- Books of other statuses decide, too, so that each list of a search has the same meaning.
            meant := library_words_meant(words);
            IF meant <> words THEN
                query := (SELECT string_agg(format('%L:*', prefix || word), ' & ') FROM unnest(meant) word)::tsquery;
                found := books_with_keys(owner, query, rows_max, ranks, NULL, NULL);
                is_found := found <> '{}' OR ranks IS NOT NULL AND books_with_keys(owner, query, 1, NULL, NULL, NULL) <> '{}';
            END IF;
            IF NOT is_found THEN
                found := books_with_similar_words(owner, words, terms, rows_max, ranks);
                is_found := found <> '{}';
            END IF;
            IF NOT is_found AND cardinality(words) > 1 AND terms = words THEN
                found := books_with_most_words(owner, meant, rows_max, ranks);
            END IF;
        END IF;
    END IF;
    RETURN QUERY
        SELECT
            b.user_id,
            b.id,
            list_rank(b.status),
            CASE
                WHEN has_ratings
                    THEN coalesce((SELECT r.quarter_stars::smallint FROM reviews r WHERE r.user_id = owner AND r.book_id = b.id), 0::smallint)
                ELSE 0::smallint
            END,
            b.added_at,
            b.updated_at,
            coalesce(b.finished_at, '-infinity'),
            book_sort_title(b.title::text, b.language) COLLATE "und-x-icu",
            book_sort_author(b.author) COLLATE "und-x-icu",
            b.search_text
        FROM books b
        WHERE b.user_id = owner
            AND b.ctid = ANY(found)
            AND (search_books.ranks IS NULL OR list_rank(b.status) = ANY(search_books.ranks))
        LIMIT rows_max;
END
$$;

-- MARK: Policies and grants

GRANT SELECT ON search_words, search_aliases TO bookplate_app;

REVOKE ALL ON FUNCTION refresh_search_words, books_with_keys, books_with_similar_words, books_with_most_words, search_books FROM PUBLIC;
GRANT EXECUTE ON FUNCTION search_books TO bookplate_app;
