-- requires: works, library
-- The series of the catalog and of the readers' books.

-- Returns the number by which the books of a series are sorted: that of the position or, for a range or a longer text, its first number,
-- followed by the second one. "1" comes before "1-3", and that before "1.5"; "8, Part 1 of 2" comes before "8, Part 2 of 2". Null without
-- a number.
CREATE OR REPLACE FUNCTION series_order(position_text text) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT coalesce(
        series_number(position_text),
        series_number(substring(position_text FROM '^\s*#?([-−–]?[0-9½¼¾⅓⅔]+(?:[.][0-9]{1,3})?)'))
            + coalesce(
                series_number(substring(position_text FROM '^\s*#?[-−–]?[0-9½¼¾⅓⅔]+(?:[.][0-9]{1,3})?[^0-9]+([0-9]{1,5})')),
                0
            ) / 1000000
    )
$$;

-- All series, by their ids: those of the catalog under the name of their most popular edition, and those that the reader has
-- entered.
CREATE OR REPLACE VIEW series WITH (security_invoker = true) AS
SELECT DISTINCT ON (id) id, name
FROM (
    SELECT series_id AS id, btrim(series) AS name, popularity, number
    FROM editions
    WHERE series_id IS NOT NULL
    UNION ALL
    SELECT series_id, series, -1, 0
    FROM books
    WHERE series_id IS NOT NULL
) named
ORDER BY id, popularity DESC, number;

-- Returns the works of a series in the catalog, each with the first of its records that names the series.
CREATE OR REPLACE FUNCTION works_of_series(series uuid) RETURNS TABLE (edition_id uuid, founder_id uuid, position_number float8)
LANGUAGE sql STABLE ROWS 10
AS $$
    SELECT DISTINCT ON (coalesce(w.founder_id, e.id))
        e.id, coalesce(w.founder_id, e.id), e.series_number
    FROM editions e
    LEFT JOIN work_records w ON w.edition_id = e.id
    WHERE e.series_id = works_of_series.series
    ORDER BY coalesce(w.founder_id, e.id), w.rank NULLS FIRST
$$;

-- Returns the books of a series that a reader has in the library, each with its work: the founder of the work, or the id of a book that is
-- not in the catalog. A book for which the reader has entered another series does not count.
CREATE OR REPLACE FUNCTION books_of_series(reader uuid, series uuid)
RETURNS TABLE (book_id uuid, work uuid, status reading_status, position_number float8)
LANGUAGE sql STABLE ROWS 10
AS $$
    SELECT b.id, s.founder_id, b.status, s.position_number
    FROM works_of_series(books_of_series.series) s
    CROSS JOIN LATERAL (
        SELECT s.founder_id AS id
        UNION ALL
        SELECT w.edition_id
        FROM work_records w
        WHERE w.founder_id = s.founder_id AND w.edition_id <> s.founder_id
    ) e
    CROSS JOIN LATERAL (
        SELECT b.id, b.status, b.series_id
        FROM books b
        WHERE b.user_id = reader AND b.edition_id = e.id
        OFFSET 0
    ) b
    -- The next query has the books for which the reader has entered the series.
    WHERE b.series_id IS NULL
    UNION ALL
    SELECT b.id, coalesce(w.founder_id, b.edition_id, b.id), b.status, series_number(b.series_position)
    FROM books b
    LEFT JOIN work_records w ON w.edition_id = b.edition_id
    WHERE b.user_id = reader AND b.series_id = books_of_series.series
$$;

-- Returns the works of a series that a reader has in the library.
CREATE OR REPLACE FUNCTION owned_works_of_series(reader uuid, series uuid)
RETURNS TABLE (work uuid, is_read boolean, position_number float8)
LANGUAGE sql STABLE ROWS 10
AS $$
    SELECT o.work, bool_or(o.status = 'READ'), min(o.position_number)
    FROM books_of_series(reader, owned_works_of_series.series) o
    GROUP BY o.work
$$;

-- Returns the number of works of a series, in the catalog or in the library of a reader.
CREATE OR REPLACE FUNCTION count_works_of_series(reader uuid, series uuid) RETURNS bigint
LANGUAGE sql STABLE
AS $$
    SELECT count(*)
    FROM (
        SELECT s.founder_id
        FROM works_of_series(count_works_of_series.series) s
        UNION
        SELECT o.work
        FROM books_of_series(reader, count_works_of_series.series) o
    ) w
$$;

-- Returns the book of the library that a reader may read next in a series, by the same rule as `next_of_series`. Books without a number
-- come after the others, in the order in which they were added.
CREATE OR REPLACE FUNCTION next_book_of_series(reader uuid, series uuid) RETURNS uuid
LANGUAGE sql STABLE
AS $$
    WITH o AS MATERIALIZED (
        SELECT *
        FROM books_of_series(reader, next_book_of_series.series)
    ), finished AS MATERIALIZED (
        SELECT work, position_number
        FROM o
        WHERE status = 'READ'
    )
    SELECT o.book_id
    FROM o
    JOIN books b ON b.user_id = reader AND b.id = o.book_id
    WHERE o.work NOT IN (SELECT f.work FROM finished f)
        AND (
            o.position_number IS NULL
            OR o.position_number NOT IN (SELECT f.position_number FROM finished f WHERE f.position_number IS NOT NULL)
            AND (
                (o.position_number >= 1 AND o.position_number = floor(o.position_number))
                OR o.position_number > (SELECT max(f.position_number) FROM finished f)
            )
        )
    ORDER BY o.position_number, b.added_at, o.book_id
    LIMIT 1
$$;

-- Returns the edition that a reader may read next in a series: the work with the lowest number that the reader has not read. Numbers
-- with a fraction, which prequels and short stories have, count only after the highest number that the reader has read.
CREATE OR REPLACE FUNCTION next_of_series(reader uuid, series uuid) RETURNS uuid
LANGUAGE sql STABLE
AS $$
    WITH finished AS MATERIALIZED (
        SELECT o.work, o.position_number
        FROM owned_works_of_series(reader, next_of_series.series) o
        WHERE o.is_read
    )
    SELECT s.edition_id
    FROM works_of_series(next_of_series.series) s
    WHERE s.position_number IS NOT NULL
        AND s.founder_id NOT IN (SELECT f.work FROM finished f)
        AND s.position_number NOT IN (SELECT f.position_number FROM finished f WHERE f.position_number IS NOT NULL)
        AND (
            (s.position_number >= 1 AND s.position_number = floor(s.position_number))
            OR s.position_number > (SELECT max(f.position_number) FROM finished f)
        )
    ORDER BY s.position_number, s.edition_id
    LIMIT 1
$$;

GRANT SELECT ON series TO bookplate_app;
