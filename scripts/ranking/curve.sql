-- Inserts synthetic books numbered from `from` to `upto`, with 40 genres, of which few are popular. The genres are
-- updated once at the end.
\set ON_ERROR_STOP on
begin;
set local app.bulk = 'on';
insert into editions (id, title, authors, language, genres, description, hook, page_count, average_rating, ratings_count, popularity)
  select md5('curve-' || n)::uuid, 'Book ' || n, array['Author ' || (n % 50000)], 'en',
    array[names[1 + (hashint4(n) & 31)], names[33 + (hashint4(-n) & 7)]],
    repeat('What book ' || n || ' is about. ', 20), 'What book ' || n || ' is about.', 200, 4,
    5000000 / (1 + n * 0.01), 5000000 / (1 + n * 0.01)
  from generate_series(:from, :upto) n, (select array_agg(name order by id) as names from genres) g;
select refresh_genres(true);
commit;
vacuum analyze;
