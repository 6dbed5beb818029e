-- Why: who comes back after a refresh has outdated their frontiers gets new ones at once, so that no page of theirs walks
-- over what they have seen.

-- An access token lives 15 minutes: whoever comes back renews their session or signs in, before they ask for a page.
create function deal_to_who_comes_back() returns trigger language plpgsql
security definer set search_path = public, pg_temp as $$
begin
  if exists (select from feed_frontiers f
    where f.user_id = new.user_id and f.seen_at <= (select frontiers_valid_since from feed_state))
  then
    insert into jobs as j (user_id, kind, payload, key, run_at, priority, attempts_max)
      values (new.user_id, 'feed.deck', '{}'::jsonb, 'deck', now(), 0, 3)
      on conflict (user_id, kind, key) where key is not null and state <> 'DEAD' do update
        set priority = least(j.priority, excluded.priority), run_at = least(j.run_at, excluded.run_at),
          again = j.state = 'RUNNING';
    perform pg_notify('jobs', 'feed.deck');
  end if;
  return null;
end
$$;
revoke execute on function deal_to_who_comes_back() from public;
create trigger deal_to_who_comes_back after insert or update of rotated_at on sessions
  for each row execute function deal_to_who_comes_back();
