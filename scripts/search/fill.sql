-- Adds synthetic editions to a catalog, to measure the search with larger catalogs. Run it as the owner of the tables:
--
--   psql -v editions=980000 -f scripts/search/fill.sql "$BOOKPLATE_ADMIN_DATABASE_URL"
--
-- Words of titles and authors' names come from the existing editions, with the same frequency; one word in eight is
-- invented. Few editions are popular.
\set ON_ERROR_STOP on
begin;
set local app.bulk = on;
set local maintenance_work_mem = '256MB';
drop index editions_search_vector;

create function pg_temp.invented() returns text language plpgsql as $$
declare
  syllables constant text[] := string_to_array('ba be bo ca ce da de du el en fa fo ga ge gri ha hel in ka kor la le lin lo lu'
    ' ma mer mi mo na ne nor o pa per pi qua ra ri ro sa sel ser si sta ta te ter ti tor tu u va ven vi wa win xa yo za', ' ');
begin
  return syllables[1 + floor(random() * cardinality(syllables))] || syllables[1 + floor(random() * cardinality(syllables))]
    || syllables[1 + floor(random() * cardinality(syllables))];
end
$$;

create function pg_temp.books(wanted int) returns table (title text, author text, readers int) language plpgsql as $$
declare
  words text[] := array(select word from editions, regexp_split_to_table(editions.title, '\s+') word where word <> '');
  names text[] := array(select word from editions, regexp_split_to_table(editions.authors[1], '\s+') word where word <> '');
begin
  perform setseed(0.5);
  for n in 1..wanted loop
    title := '';
    for k in 1..1 + floor(random() * 6) loop
      title := title || ' ' || case when random() < 0.125 then pg_temp.invented()
        else words[1 + floor(random() * cardinality(words))] end;
    end loop;
    title := btrim(title);
    author := names[1 + floor(random() * cardinality(names))] || ' '
      || case when random() < 0.125 then initcap(pg_temp.invented()) else names[1 + floor(random() * cardinality(names))] end;
    readers := least(floor(power(1 - random(), -0.9)) - 1, 5000);
    return next;
  end loop;
end
$$;
insert into editions (id, title, authors, language, ratings_count, popularity)
  select gen_random_uuid(), left(title, 500), array[author], 'en', readers, readers from pg_temp.books(:editions);
create index editions_search_vector on editions using gin (search_vector) with (fastupdate = off);
select refresh_search_words();
select refresh_genres(true);
commit;
vacuum analyze editions, search_words, edition_genres;
