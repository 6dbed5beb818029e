-- Why: folding the words of its books took most of the time of importing a catalogue.

-- As before, but what is plain ASCII goes the short way, and nothing is folded twice. SQL functions like these, with
-- concat_ws in them, are not inlined and cost an executor for each call; PL/pgSQL evaluates an expression. What
-- they answer is the same, so nothing that is stored changes. Names have their schema: pg_restore looks nowhere else.
create or replace function search_fold(value text) returns text
language plpgsql immutable strict parallel safe as $$
begin
  if octet_length(value) = char_length(value) then
    return btrim(regexp_replace(replace(translate(lower(value collate "C"), '''`', ''), '&', ' and '),
      '[^a-z0-9]+', ' ', 'g'));
  end if;
  return btrim(regexp_replace(regexp_replace(regexp_replace(
    replace(lower(public.unaccent('public.unaccent'::regdictionary, normalize(value, NFKC)) collate "und-x-icu"),
      '&', ' and '),
    '[''’ʼ`]', '', 'g'),
    '([\u2E80-\u9FFF\uF900-\uFAFF])', ' \1 ', 'g'),
    '[^[:alnum:]]+', ' ', 'g'));
end
$$;
create or replace function search_text(
  title text, subtitle text, series text, series_position text, authors text[]
) returns text
language plpgsql immutable parallel safe as $$
begin
  return public.search_fold(concat_ws(' ', title, subtitle, series, series_position, array_to_string(authors, ' ')));
end
$$;
create or replace function search_vector(
  title text, subtitle text, series text, series_position text, authors text[]
) returns tsvector
language plpgsql immutable parallel safe as $$
declare
  names text := public.search_fold(array_to_string(authors, ' '));
begin
  return setweight(to_tsvector('simple', public.search_fold(title)), 'A')
    || setweight(to_tsvector('simple', names), 'B')
    || setweight(to_tsvector('simple', regexp_replace(names, '(?<=\m\w) (?=\w\M)', '', 'g')), 'B')
    || setweight(to_tsvector('simple', public.search_fold(concat_ws(' ', subtitle, series, series_position))), 'C');
end
$$;
