-- The search of the catalog and of a reader's own library. Queries are folded (search_fold) before they come here.

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
    SELECT c.word, c.editions, search_forms(c.word)
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
    IF length(misspelled) > 40 THEN
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

-- Returns a page of the editions that match a folded query, the best match first. The query may end in the middle of a word.
--
-- 1. Each word becomes a part of a text-search query: the word, or, if the catalog does not have it, similar words and its
--    split into two words. Two words that the catalog also has as one word match that word, too.
-- 2. Editions that match all parts come from the index (search_candidates), together with those whose title is the query.
-- 3. If they are fewer than ten, rare words also match similar words. After that, the parts are left out one
--    after another, the most common first.
-- 4. Only these candidates are compared with the query letter by letter, and ranked. `is_match` is true for
--    those that match all parts of step 1. Of the records of a work, only the best match is returned.
--
-- The work is bounded, whatever the query contains. 400 letters and 12 words are read. A word of more than 40 letters is only
-- looked up, and trigrams are compared for words of 48 letters together. At most 1,000 words with the beginning of a word are
-- counted, and at most a few hundred candidates are compared with the first 100 letters.
--
-- Relies on this plan: the words by the primary key of search_words, the titles by editions_search_title, and the candidates by
-- key. force_custom_plan, because the words decide which plan is cheap. enable_seqscan = off prevents scans of the whole catalog and
-- of all its words: the planner expects too many rows.
CREATE OR REPLACE FUNCTION search_editions(folded text, rows_max int, after_score float8, after_id uuid)
RETURNS TABLE (id uuid, score float8, is_match boolean)
LANGUAGE plpgsql STABLE ROWS 50
SET plan_cache_mode = force_custom_plan
SET enable_seqscan = off
AS $$
DECLARE
    enough CONSTANT int := 10;
    -- Characters such as ligatures fold to several letters.
    query CONSTANT text := left(folded, 400);
    compared CONSTANT text := left(folded, 100);
    trigram_letters int := 48;
    total float8 := (
        SELECT greatest(reltuples, 1000)
        FROM pg_class
        WHERE oid = 'editions'::regclass
    );
    -- Without repeated words. The last word stays the last one.
    words text[] := ARRAY(
        SELECT w.word
        FROM unnest((string_to_array(query, ' '))[1:12]) WITH ORDINALITY w (word, position)
        GROUP BY w.word
        ORDER BY max(w.position)
    );
    n int := coalesce(cardinality(words), 0);
    -- The parts of the query, one per word, and how many editions match each; null if the catalog does not have the word.
    parts text[] := '{}';
    counts float8[] := '{}';
    spelling text;
    count float8;
    similar_words text[];
    split text;
    dropped int;
    exact tsquery;
    candidates uuid[];
BEGIN
    FOR i IN 1..n LOOP
        spelling := quote_literal(words[i]);
        count := (
            SELECT w.editions
            FROM search_words w
            WHERE w.word = words[i]
        );
        IF i = n THEN
            spelling := spelling || ':*';
            count := (
                SELECT CASE
                    WHEN count(*) = 1000 OR sum(w.editions) > greatest(total / 10, 10000) THEN total
                    ELSE sum(w.editions)
                END
                FROM (
                    SELECT w.editions
                    FROM search_words w
                    WHERE w.word ^@ words[i]
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
    IF n = 0 THEN
        RETURN;
    END IF;
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
    exact := array_to_string(parts, ' & ')::tsquery;
    -- MATERIALIZED makes the planner use the index of titles. Without statistics of them, it read a million editions in order of
    -- popularity.
    candidates := ARRAY(
        WITH titled AS MATERIALIZED (
            SELECT e.id, e.popularity
            FROM editions e
            WHERE e.search_title = query
        )
        SELECT t.id
        FROM titled t
        ORDER BY t.popularity DESC, t.id
        LIMIT 50
    ) || search_candidates(parts, counts, total);
    IF cardinality(candidates) < enough THEN
        -- A rare word may be a misspelling that the catalog also has.
        FOR i IN 1..n LOOP
            IF length(words[i]) > 3 AND counts[i] < greatest(100, total / 1000) THEN
                SELECT s.trigram_letters, s.similar_words
                INTO trigram_letters, similar_words
                FROM search_similar_words(words[i], trigram_letters) s;
                IF similar_words <> '{}' THEN
                    parts[i] := format(
                        '(%s | %s)',
                        parts[i],
                        (SELECT string_agg(quote_literal(w), ' | ') FROM unnest(similar_words) w)
                    );
                    counts[i] := counts[i] + (
                        SELECT sum(w.editions)
                        FROM search_words w
                        WHERE w.word = ANY(similar_words)
                    );
                END IF;
            END IF;
        END LOOP;
        candidates := candidates || search_candidates(parts, counts, total);
        WHILE cardinality(candidates) < enough AND cardinality(parts) > 1 LOOP
            dropped := (
                SELECT position
                FROM unnest(counts) WITH ORDINALITY c (count, position)
                ORDER BY c.count DESC NULLS FIRST, position
                LIMIT 1
            );
            parts := parts[:dropped - 1] || parts[dropped + 1:];
            counts := counts[:dropped - 1] || counts[dropped + 1:];
            candidates := candidates || search_candidates(parts, counts, total);
        END LOOP;
    END IF;
    RETURN QUERY
        SELECT ranked.id, ranked.score, ranked.is_match
        FROM (
            SELECT DISTINCT ON (scored.founder_id) scored.id, scored.score, scored.is_match
            FROM (
                SELECT
                    e.id,
                    coalesce(w.founder_id, e.id) AS founder_id,
                    e.search_vector @@ exact AS is_match,
                    similarity(e.search_title, compared)
                        + word_similarity(compared, e.search_text)
                        + 0.5 * (e.search_title = query)::int
                        + 0.2 * (e.search_title ^@ (query || ' '))::int
                        + 0.5 * (e.search_vector @@ exact)::int
                        + 0.3 * (strpos(' ' || e.search_text || ' ', ' ' || query || ' ') > 0)::int
                        + 0.05 * ln(1 + e.popularity) AS score
                FROM editions e
                LEFT JOIN work_records w ON w.edition_id = e.id
                WHERE e.id = ANY(candidates)
            ) scored
            ORDER BY scored.founder_id, scored.score DESC, scored.id DESC
        ) ranked
        WHERE after_score IS NULL OR (ranked.score, ranked.id) < (after_score, after_id)
        ORDER BY ranked.score DESC, ranked.id DESC
        LIMIT rows_max;
END
$$;

-- MARK: A reader's own library

-- Returns a regular expression for each word of a query. A text with a space before and after it matches if one of its words
-- begins with the word of the query, or is a slight misspelling of it. Folded words contain no special characters.
--
-- `known` contains the words of all texts. At most 16 of them, the most similar ones, become alternatives of a word of 4 to 40
-- letters. They differ by one letter, by two if the word has more than six letters, or by two neighbors that are swapped.
CREATE OR REPLACE FUNCTION search_patterns(words text[], known text[]) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT array_agg(' (?:' || q.word || coalesce(s.alternatives, '') || ')' ORDER BY q.position)
    FROM (
        SELECT w.word, w.position, length(w.word) AS letters, ARRAY(
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
            WHERE q.letters BETWEEN 4 AND 40
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

-- MARK: Policies and grants

GRANT SELECT ON search_words TO bookplate_app;

REVOKE ALL ON FUNCTION refresh_search_words FROM PUBLIC;
