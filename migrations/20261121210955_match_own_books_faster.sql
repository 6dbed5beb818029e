-- Why: looking for a misspelled word among 5,000 books of one's own took 134 ms of the database's processor, and takes 50.

-- As before: every word of the query begins a word of the text, or is nearly one.
create or replace function search_matches(folded_text text, folded_query text) returns boolean
language plpgsql immutable strict parallel safe as $$
declare
  words text[] := string_to_array(folded_text, ' ');
  wanted text;
  word text;
  is_near boolean;
begin
  foreach wanted in array string_to_array(folded_query, ' ') loop
    continue when strpos(' ' || folded_text, ' ' || wanted) > 0;
    if length(wanted) < 4 then return false; end if;
    is_near := false;
    foreach word in array words loop
      if abs(length(word) - length(wanted)) < 3 then
        is_near := case levenshtein_less_equal(left(word, 100), left(wanted, 100), 2)
          when 1 then true
          when 2 then length(wanted) > 6 or search_forms(word) && search_forms(wanted)
          else false end;
        exit when is_near;
      end if;
    end loop;
    if not is_near then return false; end if;
  end loop;
  return true;
end
$$;
