-- Why: an import brings the search's words and the feed's order up to date at its end, so doing it at each of its
-- statements, too, is work for nothing.

-- Whoever sets app.bulk for a transaction ends it with refresh_search_words and refresh_feed_order.
drop trigger editions_inserted on editions;
create trigger editions_inserted after insert on editions
  referencing new table as new_editions for each statement
  when (current_setting('app.bulk', true) is distinct from 'on')
  execute function learn_search_words();
drop trigger editions_updated on editions;
create trigger editions_updated after update on editions for each row
  when (old.search_vector is distinct from new.search_vector
    and current_setting('app.bulk', true) is distinct from 'on')
  execute function learn_changed_search_words();
drop trigger place_new_editions on editions;
create trigger place_new_editions after insert on editions
  referencing new table as fresh for each statement
  when (current_setting('app.bulk', true) is distinct from 'on')
  execute function place_new_editions();
drop trigger place_changed_editions on editions;
create trigger place_changed_editions after update on editions
  referencing old table as stale new table as fresh for each statement
  when (current_setting('app.bulk', true) is distinct from 'on')
  execute function place_changed_editions();
