-- Why: readers find books by words as they type them: without accents, misspelled, half, in any order.

-- All three are trusted: the owner of the database may install them.
create extension if not exists pg_trgm with schema public;
create extension if not exists unaccent with schema public;
create extension if not exists fuzzystrmatch with schema public;

-- What two ways of writing have in common: lower case, no marks, no punctuation; one space between words,
-- and around each sign of a script that has none. The collation is named so that every database folds alike;
-- unaccent's dictionary is named so that the result depends on nothing else and may be indexed.
create function search_fold(value text) returns text
language sql immutable strict parallel safe
return btrim(regexp_replace(regexp_replace(regexp_replace(
  replace(lower(unaccent('unaccent'::regdictionary, normalize(value, NFKC)) collate "und-x-icu"),
    '&', ' and '),
  '[''’ʼ`]', '', 'g'),
  '([\u2E80-\u9FFF\uF900-\uFAFF])', ' \1 ', 'g'),
  '[^[:alnum:]]+', ' ', 'g'));

create function search_text(
  title text, subtitle text, series text, series_position text, authors text[]
) returns text
language sql immutable parallel safe
return search_fold(concat_ws(' ', title, subtitle, series, series_position,
  array_to_string(authors, ' ')));

-- Initials also as one word: "j r r tolkien" is found by "jrr".
create function search_vector(
  title text, subtitle text, series text, series_position text, authors text[]
) returns tsvector
language sql immutable parallel safe
return setweight(to_tsvector('simple', search_fold(title)), 'A')
  || setweight(to_tsvector('simple', search_fold(array_to_string(authors, ' '))), 'B')
  || setweight(to_tsvector('simple', regexp_replace(
    search_fold(array_to_string(authors, ' ')), '(?<=\m\w) (?=\w\M)', '', 'g')), 'B')
  || setweight(to_tsvector('simple', search_fold(concat_ws(' ', subtitle, series, series_position))), 'C');

alter table editions
  add column search_title text generated always as (search_fold(title)) stored,
  add column search_text text generated always as
    (search_text(title, subtitle, series, series_position, authors)) stored,
  add column search_vector tsvector generated always as
    (search_vector(title, subtitle, series, series_position, authors)) stored;
create index editions_search_vector on editions using gin (search_vector) with (fastupdate = off);
create index editions_search_title on editions (search_title);
create index editions_popularity on editions (popularity desc, id);

-- A word and what is left of it when one letter is left out: two words that differ by one letter,
-- or by two that are swapped, have one of these in common.
create function search_forms(word text) returns text[]
language sql immutable strict parallel safe
return (select array_agg(distinct left(word, n - 1) || substr(word, n + 1)) || word
  from generate_series(1, length(word)) n);

-- The words of the catalogue. Misspelled ones are looked up here, where there are few, and not among the books.
create table search_words (
  word text collate "C" primary key,
  editions int not null,
  forms text[] not null
);
create index search_words_forms on search_words using gin (forms);
create index search_words_word on search_words using gin (word gin_trgm_ops);
grant select on search_words to bookplate_app;

-- New words are known at once; how often each occurs is counted anew by refresh_search_words, because counting
-- here would make everybody who saves a book wait for everybody else's "the".
create function learn_search_words() returns trigger language plpgsql as $$
begin
  insert into search_words (word, editions, forms)
    select word, count(*), search_forms(word)
    from new_editions, unnest(tsvector_to_array(search_vector)) as word
    where length(word) between 2 and 40 group by word order by word
    on conflict do nothing;
  return null;
end
$$;
create function learn_changed_search_words() returns trigger language plpgsql as $$
begin
  insert into search_words (word, editions, forms)
    select word, 1, search_forms(word) from unnest(tsvector_to_array(new.search_vector)) as word
    where length(word) between 2 and 40 order by word
    on conflict do nothing;
  return null;
end
$$;
create trigger editions_inserted after insert on editions
  referencing new table as new_editions for each statement execute function learn_search_words();
create trigger editions_updated after update on editions for each row
  when (old.search_vector is distinct from new.search_vector)
  execute function learn_changed_search_words();

create function refresh_search_words() returns void language plpgsql as $$
begin
  create temporary table counted on commit drop as
    select word, ndoc as editions from ts_stat('select search_vector from editions')
    where length(word) between 2 and 40;
  insert into search_words as w (word, editions, forms)
    select c.word, c.editions, search_forms(c.word) from counted c
    left join search_words known on known.word = c.word
    where known.editions is distinct from c.editions
    on conflict (word) do update set editions = excluded.editions;
  delete from search_words w where not exists (select from counted c where c.word = w.word);
  drop table counted;
end
$$;

-- Words of the catalogue that a word may be a misspelling of: those that are equal when one letter is left out of
-- each, or, for a long word that has none, those that share most of their letters' triples.
create function search_similar_words(wanted text) returns text[]
language plpgsql stable parallel safe set pg_trgm.similarity_threshold = 0.35 as $$
declare
  near text[];
begin
  near := array(
    select w.word from search_words w where w.forms && search_forms(wanted) and w.word <> wanted
    order by w.editions desc, w.word limit case when length(wanted) < 6 then 16 else 8 end);
  if near = '{}' and length(wanted) >= 6 then
    near := array(
      select w.word from search_words w
      where w.word % wanted and levenshtein(w.word, wanted) <= length(wanted) / 3
      order by levenshtein(w.word, wanted), w.editions desc, w.word limit 4);
  end if;
  return near;
end
$$;

-- The most popular editions that all parts of a query find; counts says in how many each part occurs.
--
-- The rarest parts narrow the search by the index and the rest is looked at there: reading where "the" occurs
-- takes longer than looking into the books that are left. Where all parts are common, so are the books that have
-- them all, and the popular ones are looked through in their order.
create function search_candidates(parts text[], counts float8[], total float8) returns uuid[]
language plpgsql stable set plan_cache_mode = force_custom_plan set enable_seqscan = off as $$
declare
  wanted tsquery := array_to_string(parts, ' & ')::tsquery;
  narrow tsquery;
  expected float8 := total;
  narrowed float8 := total;
  part record;
begin
  for part in select * from unnest(parts, counts) as p (spelling, count) order by count loop
    if narrow is null or narrowed > 500 then
      narrow := case when narrow is null then part.spelling::tsquery else narrow && part.spelling::tsquery end;
      narrowed := narrowed * least(1, part.count / total);
    end if;
    expected := expected * least(1, part.count / total);
  end loop;
  if expected > 8000 then
    return array(
      select e.id from (select id, search_vector, popularity from editions order by popularity desc, id limit 100000) e
      where ts_match_vq(e.search_vector, wanted) order by e.popularity desc, e.id limit 100);
  end if;
  return array(
    select e.id from (
      select id, popularity from editions
      where search_vector @@ narrow and ts_match_vq(search_vector, wanted) offset 0) e
    order by e.popularity desc, e.id limit 200);
end
$$;

-- The books that words find, the best match first. The last word may be half typed.
--
-- Books that have all words, in any spelling that is likely, come from the index; where they are few, also those
-- that have all but the commonest. Only these candidates, 500 at most, are compared letter by letter. is_match
-- tells the former from the latter. Planned anew each time, because the words decide what is cheap.
create function search_editions(folded text, wanted int, after_score float8, after_id uuid)
returns table (id uuid, score float8, is_match boolean)
language plpgsql stable set plan_cache_mode = force_custom_plan as $$
declare
  enough constant int := 10;
  total float8 := (select greatest(reltuples, 1000) from pg_class where oid = 'editions'::regclass);
  words text[] := (string_to_array(folded, ' '))[1:12];
  n int := coalesce(cardinality(words), 0);
  parts text[] := '{}';
  counts float8[] := '{}';
  spelling text;
  count float8;
  near text[];
  split text;
  dropped int;
  exact tsquery;
  found uuid[];
begin
  for i in 1..n loop
    spelling := quote_literal(words[i]);
    count := (select w.editions from search_words w where w.word = words[i]);
    if i = n then
      spelling := spelling || ':*';
      count := (select sum(w.editions) from search_words w where w.word ^@ words[i]);
    end if;
    if count is null and length(words[i]) > 1 then
      near := search_similar_words(words[i]);
      split := (
        select format('%L & %L', a.word, b.word) from generate_series(2, length(words[i]) - 2) k
        join search_words a on a.word = left(words[i], k)
        join search_words b on b.word = substr(words[i], k + 1)
        order by least(a.editions, b.editions) desc limit 1);
      spelling := concat_ws(' | ', spelling, (select string_agg(quote_literal(w), ' | ') from unnest(near) w), split);
      count := (select sum(w.editions) from search_words w where w.word = any(near));
      if split is not null then count := coalesce(count, 0) + 100; end if;
    end if;
    parts := parts || ('(' || spelling || ')');
    -- Words that nobody knows are the first to be done without.
    counts := counts || coalesce(count, case when length(words[i]) = 1 then total / 20 else total end);
  end loop;
  if n = 0 then return; end if;
  for i in 1..n - 1 loop
    count := (select w.editions from search_words w where w.word = words[i] || words[i + 1]);
    if count is not null then
      parts[i] := format('(%s & %s | %L)', parts[i], parts[i + 1], words[i] || words[i + 1]);
      parts[i + 1] := parts[i];
      counts[i] := count + least(counts[i], counts[i + 1]);
      counts[i + 1] := counts[i];
    end if;
  end loop;
  exact := array_to_string(parts, ' & ')::tsquery;
  found := array(select e.id from editions e where e.search_title = folded order by e.popularity desc, e.id limit 50)
    || search_candidates(parts, counts, total);
  if cardinality(found) < enough then
    -- What is spelled like a rare word may be another one's misspelling.
    for i in 1..n loop
      if length(words[i]) > 3 and counts[i] < greatest(100, total / 1000) then
        near := search_similar_words(words[i]);
        if near <> '{}' then
          parts[i] := format('(%s | %s)', parts[i], (select string_agg(quote_literal(w), ' | ') from unnest(near) w));
          counts[i] := counts[i] + (select sum(w.editions) from search_words w where w.word = any(near));
        end if;
      end if;
    end loop;
    found := found || search_candidates(parts, counts, total);
    while cardinality(found) < enough and cardinality(parts) > 1 loop
      dropped := (select place from unnest(counts) with ordinality c (count, place) order by c.count desc, place limit 1);
      parts := parts[:dropped - 1] || parts[dropped + 1:];
      counts := counts[:dropped - 1] || counts[dropped + 1:];
      found := found || search_candidates(parts, counts, total);
    end loop;
  end if;
  return query
    select ranked.id, ranked.score, ranked.is_match from (
      select e.id, e.search_vector @@ exact as is_match,
        similarity(e.search_title, folded) + word_similarity(folded, e.search_text)
          + 0.5 * (e.search_title = folded)::int
          + 0.2 * (e.search_title ^@ (folded || ' '))::int
          + 0.5 * (e.search_vector @@ exact)::int
          + 0.3 * (strpos(' ' || e.search_text || ' ', ' ' || folded || ' ') > 0)::int
          + 0.05 * ln(1 + e.popularity) as score
      from (select distinct unnest(found) as id) f join editions e on e.id = f.id) ranked
    where after_score is null or (ranked.score, ranked.id) < (after_score, after_id)
    order by ranked.score desc, ranked.id desc limit wanted;
end
$$;

-- One's own library: every word of the query begins a word of the text, or is nearly one.
create function search_matches(folded_text text, folded_query text) returns boolean
language sql immutable parallel safe
return not exists (
  select from unnest(string_to_array(folded_query, ' ')) q (word)
  where strpos(' ' || folded_text, ' ' || q.word) = 0
    and (length(q.word) < 4 or not exists (
      select from unnest(string_to_array(folded_text, ' ')) t (word)
      where abs(length(t.word) - length(q.word)) < 3
        and case levenshtein_less_equal(left(t.word, 100), left(q.word, 100), 2)
          when 1 then true
          when 2 then length(q.word) > 6 or search_forms(t.word) && search_forms(q.word)
          else false end)));

alter table books add column search_text text generated always as
  (search_fold(title || ' ' || coalesce(author, ''))) stored;

-- Words that the outside sources have been asked for lately.
create table source_searches (
  query text primary key check (char_length(query) between 1 and 1000),
  expires_at timestamptz not null
);
grant select on source_searches to bookplate_app;

create function remember_search(query text, seconds int) returns void
language sql security definer set search_path = public, pg_temp
begin atomic
  insert into source_searches (query, expires_at)
    values (search_fold(remember_search.query), now() + least(seconds, 2592000) * interval '1 second')
    on conflict (query) do update set expires_at = excluded.expires_at;
end;
revoke execute on function remember_search from public;
grant execute on function remember_search to bookplate_app;

select refresh_search_words();
