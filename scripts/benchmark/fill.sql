-- Fills a migrated, empty database: 2,000 users with 5 shelves of 20 books each, every third of which is read and
-- reviewed; 10,000 catalog books; and about 200 swipes per user. The rows are deterministic. Ids are hashes of names
-- such as 'user-1', so the load generators can compute them.
--
-- User u has the shelves 5u to 5u + 4. Shelf s has the books (s, 1) to (s, 20).
\set ON_ERROR_STOP on
begin;

create function pg_temp.id(what text) returns uuid language sql immutable as $$ select md5(what)::uuid $$;
-- A pseudorandom number from 0 to below - 1.
create function pg_temp.pick(what text, below int) returns int language sql immutable
  as $$ select (('x' || substr(md5(what), 1, 7))::bit(28)::int % below) $$;
create function pg_temp.words(what text, count int) returns text language sql immutable as $$
  select string_agg((array['a', 'the', 'of', 'and', 'in', 'river', 'house', 'night', 'secret', 'letter', 'city', 'war',
    'love', 'daughter', 'island', 'memory', 'garden', 'winter', 'stranger', 'journey', 'truth', 'family', 'summer',
    'ghost', 'promise', 'road', 'sea', 'long', 'silent', 'broken', '“golden”', 'last', 'first', 'hidden', 'young',
    'must', 'finds', 'loses', 'returns', 'discovers', 'between', 'after', 'before', 'with', 'who', 'her', 'his',
    'their', 'world', 'story', 'past', 'year', 'becomes', 'against', 'friend', 'king', 'school', 'dream', 'façade',
    'Paris', '1930s', 'magic', 'murder', '—'])[1 + pg_temp.pick(what || word, 64)], ' ' order by word)
  from generate_series(1, count) word $$;

-- The starter catalog. To make 10,000 books, its first books are inserted again as other editions.
create temporary table starter (n serial, book jsonb);
\copy starter (book) from program 'cat scripts/catalog/starter.jsonl' with (format csv, quote e'\x01', delimiter e'\x02')
insert into editions (id, isbn13, title, subtitle, series, series_position, authors, published_date, language,
    page_count, genres, description, hook, average_rating, ratings_count, popularity)
  select pg_temp.id('edition-' || place),
    case when place <= total then book ->> 'isbn13' end,
    book ->> 'title', book ->> 'subtitle', book ->> 'series', book ->> 'seriesPosition',
    array(select jsonb_array_elements_text(book -> 'authors')), book ->> 'publishedDate', book ->> 'language',
    90 + pg_temp.pick('pages-' || place, 700), array(select jsonb_array_elements_text(book -> 'genres')),
    pg_temp.words('about-' || place, 60 + pg_temp.pick('length-' || place, 60)),
    left(pg_temp.words('about-' || place, 20), 140),
    (book ->> 'averageRating')::float8, (book ->> 'ratingsCount')::int, (book ->> 'ratingsCount')::int
  from (select count(*)::int as total from starter) counted,
    generate_series(1, 10000) place join starter on n = 1 + (place - 1) % (select count(*) from starter);
select refresh_genres(true);

insert into tenants (id, slug, name, issuers, audiences) values
  (pg_temp.id('tenant'), 'bench', 'Benchmark', '{https://issuer.test}', '{test.bench}');
insert into users (id, tenant_id, display_name, created_at)
  select pg_temp.id('user-' || u), pg_temp.id('tenant'), 'Reader ' || u,
    timestamptz '2023-01-01 00:00Z' + u * interval '7 hours'
  from generate_series(1, 2000) u;
insert into identities (user_id, tenant_id, subject)
  select pg_temp.id('user-' || u), pg_temp.id('tenant'), 'subject-' || u
  from generate_series(1, 2000) u;
insert into sessions (user_id, id, refresh_hash, expires_at)
  select pg_temp.id('user-' || u), pg_temp.id('session-' || u), '\x00', timestamptz '2100-01-01 00:00Z'
  from generate_series(1, 2000) u;
insert into shelves (user_id, id, name, position, created_at)
  select pg_temp.id('user-' || u), pg_temp.id('shelf-' || u * 5 + i),
    (array['To read', 'Favourites', 'Science & history', 'On loan', 'Holiday'])[i + 1], i,
    timestamptz '2023-02-01 00:00Z' + (u * 5 + i) * interval '11 minutes'
  from generate_series(1, 2000) u, generate_series(0, 4) i;

-- 97 and 10,000 have no common factor, so no user has the same edition twice.
create temporary table placed as
  select u, u * 5 + i as shelf, k, 1 + (u * 37 + (i * 20 + k) * 97) % 10000 as edition,
    pg_temp.id('user-' || u) as user_id, pg_temp.id('book-' || u * 5 + i || '-' || k) as id,
    timestamptz '2024-01-01 00:00Z' + pg_temp.pick('added-' || u * 5 + i || '-' || k, 60000000) * interval '1 second' as added_at,
    pg_temp.pick('reviewed-' || u * 5 + i || '-' || k, 3) = 0 as reviewed
  from generate_series(1, 2000) u, generate_series(0, 4) i, generate_series(1, 20) k;
insert into books (user_id, id, edition_id, title, authors, isbn13, published_date, page_count, genre, status, added_at,
    finished_at)
  select p.user_id, p.id, e.id, e.title, e.authors, e.isbn13, e.published_date, e.page_count, e.genres[1],
    (case when p.reviewed then 'READ' when p.k % 2 = 0 then 'READING' else 'WANT_TO_READ' end)::reading_status,
    p.added_at, case when p.reviewed then p.added_at + interval '9 days' end
  from placed p join editions e on e.id = pg_temp.id('edition-' || p.edition);
insert into shelf_books (user_id, shelf_id, book_id, added_at)
  select user_id, pg_temp.id('shelf-' || shelf), id, added_at from placed;
insert into reviews (user_id, book_id, id, quarter_stars, text, created_at)
  select user_id, id, pg_temp.id('review-' || id), 4 + 4 * pg_temp.pick('rating-' || id, 5),
    case when pg_temp.pick('silent-' || id, 8) > 0 then pg_temp.words('review-' || id, 8 + pg_temp.pick('long-' || id, 30)) end,
    added_at + interval '10 days'
  from placed where reviewed;

-- A feed shows popular books first, so most swipes are of popular books.
create temporary table ranked as
  select id, row_number() over (order by popularity desc, id) as rank from editions;
insert into swipes (user_id, edition_id, action, swiped_at, recorded_at)
  select pg_temp.id('user-' || u), swiped.id,
    (array['LIKE', 'SKIP', 'DISLIKE', 'DISLIKE'])[1 + pg_temp.pick('action-' || u || '-' || swiped.rank, 4)]::swipe_action,
    swiped.at, swiped.at
  from generate_series(1, 2000) u cross join lateral (
    select r.id, r.rank, now() - pg_temp.pick('swiped-' || u || '-' || r.rank, 5000000) * interval '1 second' as at
    from (
      select distinct case when g <= 200 then 1 + pg_temp.pick('top-' || u || '-' || g, 400)
        else 401 + pg_temp.pick('rest-' || u || '-' || g, 9600) end as rank
      from generate_series(1, 250) g) chosen join ranked r using (rank)) swiped;

-- The lists of ids that pgbench sends in place of the ids that the server has just read.
create table bench_lists (u int primary key, shelves uuid[] not null, books uuid[] not null, books_read uuid[] not null);
insert into bench_lists
  select u, array(select pg_temp.id('shelf-' || u * 5 + i) from generate_series(0, 4) i),
    array_agg(id), array_agg(id) filter (where reviewed)
  from placed group by u;
grant select on bench_lists to bookplate_app;
commit;
vacuum (freeze, analyze);
checkpoint;
