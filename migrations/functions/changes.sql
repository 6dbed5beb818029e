-- requires: accounts, library
-- The change log of each library, and the outbox for brokers and live subscriptions.

CREATE OR REPLACE FUNCTION record_changes(owner uuid, change change_kind, typename text, ids uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path = public, pg_temp
 SET enable_seqscan TO 'off'
AS $$
declare
  head change_heads;
  fresh uuid[] := ids;
begin
  select h.* into head from change_heads h join users u on u.id = h.user_id
    where h.user_id = owner for no key update of h;
  if not found then
    -- Its first change, unless the account is going, and its log with it.
    insert into change_heads (user_id, last_seq, base_seq) select u.id, 0, 0 from users u where u.id = owner
      on conflict (user_id) do update set last_seq = change_heads.last_seq returning * into head;
    if not found then return; end if;
  elsif head.xact <> pg_current_xact_id() then
    head.base_seq := head.last_seq;
  elsif change = 'UPDATED' then
    select array_agg(listed.id) into fresh from unnest(ids) as listed (id)
      where not exists (select from changes c where c.user_id = owner and c.seq > head.base_seq
        and c.id = listed.id and c.typename = record_changes.typename and c.kind <> 'DELETED');
    if fresh is null then return; end if;
  end if;
  update change_heads h
    set last_seq = head.last_seq + cardinality(fresh), base_seq = head.base_seq, xact = pg_current_xact_id()
    where h.user_id = owner;
  insert into changes (user_id, seq, kind, typename, id, at)
    select owner, head.last_seq + listed.place, change, record_changes.typename, listed.id, clock_timestamp()
    from unnest(fresh) with ordinality as listed (id, place);
end
$$;

CREATE OR REPLACE FUNCTION log_objects()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path = public, pg_temp
 SET enable_seqscan TO 'off'
AS $$
declare
  owner uuid;
  ids uuid[];
begin
  if tg_op = 'INSERT' then
    for owner, ids in select user_id, array_agg(id) from written group by user_id order by user_id loop
      perform record_changes(owner, 'CREATED', tg_argv[0], ids);
    end loop;
  elsif tg_op = 'UPDATE' then
    for owner, ids in
      select w.user_id, array_agg(w.id) from written w join replaced r on (r.user_id, r.id) = (w.user_id, w.id)
        where w is distinct from r group by w.user_id order by w.user_id
    loop
      perform record_changes(owner, 'UPDATED', tg_argv[0], ids);
    end loop;
  else
    for owner, ids in select user_id, array_agg(id) from replaced group by user_id order by user_id loop
      perform record_changes(owner, 'DELETED', tg_argv[0], ids);
    end loop;
  end if;
  return null;
end
$$;

CREATE OR REPLACE FUNCTION log_reviews_of_books()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path = public, pg_temp
 SET enable_seqscan TO 'off'
AS $$
declare
  owner uuid;
  is_shown boolean;
  ids uuid[];
begin
  for owner, is_shown, ids in
    select w.user_id, w.status = 'READ', array_agg(v.id)
      from written w join replaced r on (r.user_id, r.id) = (w.user_id, w.id)
        join reviews v on (v.user_id, v.book_id) = (w.user_id, w.id)
      where (w.status = 'READ') <> (r.status = 'READ') group by 1, 2 order by 1, 2
  loop
    perform record_changes(
      owner, case when is_shown then 'CREATED' else 'DELETED' end::change_kind, 'Review', ids);
  end loop;
  return null;
end
$$;

CREATE OR REPLACE FUNCTION log_reviews()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path = public, pg_temp
 SET enable_seqscan TO 'off'
AS $$
declare
  owner uuid;
  ids uuid[];
  book_ids uuid[];
begin
  if tg_op = 'DELETE' then
    for owner, ids, book_ids in
      select t.user_id, array_agg(t.id), array_agg(b.id) filter (where b.id is not null)
        from replaced t left join books b on (b.user_id, b.id) = (t.user_id, t.book_id)
        group by 1 order by 1
    loop
      perform record_changes(owner, 'DELETED', 'Review', ids);
      if book_ids is not null then perform record_changes(owner, 'UPDATED', 'Book', book_ids); end if;
    end loop;
  else
    for owner, ids, book_ids in
      select t.user_id, array_agg(t.id), array_agg(t.book_id) from written t group by 1 order by 1
    loop
      perform record_changes(
        owner, case tg_op when 'INSERT' then 'CREATED' else 'UPDATED' end::change_kind, 'Review', ids);
      perform record_changes(owner, 'UPDATED', 'Book', book_ids);
    end loop;
  end if;
  return null;
end
$$;

CREATE OR REPLACE FUNCTION log_shelf_books()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path = public, pg_temp
 SET enable_seqscan TO 'off'
AS $$
declare
  owner uuid;
  ids uuid[];
begin
  for owner, ids in
    select b.user_id, array_agg(b.id) from books b
      where (b.user_id, b.id) in (select t.user_id, t.book_id from moved t) group by 1 order by 1
  loop
    perform record_changes(owner, 'UPDATED', 'Book', ids);
  end loop;
  for owner, ids in
    select s.user_id, array_agg(s.id) from shelves s
      where (s.user_id, s.id) in (select t.user_id, t.shelf_id from moved t) group by 1 order by 1
  loop
    perform record_changes(owner, 'UPDATED', 'Shelf', ids);
  end loop;
  return null;
end
$$;

CREATE OR REPLACE FUNCTION prune_changes(older_than_days integer, rows_max integer)
 RETURNS bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path = public, pg_temp
AS $$
declare
  pruned bigint := 0;
  owner uuid;
  last bigint;
  count bigint;
begin
  for owner, last in
    select old.user_id, max(old.seq) from (
      select c.user_id, c.seq from changes c
        where c.at < now() - older_than_days * interval '1 day' limit rows_max) old
      group by 1 order by 1
  loop
    -- First the log's head: a reader who sees rows missing sees that they were pruned.
    update change_heads h set pruned_seq = greatest(h.pruned_seq, last) where h.user_id = owner;
    delete from changes c where c.user_id = owner and c.seq <= last;
    get diagnostics count = row_count;
    pruned := pruned + count;
  end loop;
  return pruned;
end
$$;
CREATE OR REPLACE TRIGGER log_insert AFTER INSERT ON shelves REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION log_objects('Shelf');
CREATE OR REPLACE TRIGGER log_update AFTER UPDATE ON shelves REFERENCING OLD TABLE AS replaced NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION log_objects('Shelf');
CREATE OR REPLACE TRIGGER log_delete AFTER DELETE ON shelves REFERENCING OLD TABLE AS replaced FOR EACH STATEMENT EXECUTE FUNCTION log_objects('Shelf');
CREATE OR REPLACE TRIGGER log_insert AFTER INSERT ON books REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION log_objects('Book');
CREATE OR REPLACE TRIGGER log_update AFTER UPDATE ON books REFERENCING OLD TABLE AS replaced NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION log_objects('Book');
CREATE OR REPLACE TRIGGER log_delete AFTER DELETE ON books REFERENCING OLD TABLE AS replaced FOR EACH STATEMENT EXECUTE FUNCTION log_objects('Book');
CREATE OR REPLACE TRIGGER log_update_of_reviews AFTER UPDATE ON books REFERENCING OLD TABLE AS replaced NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION log_reviews_of_books();
CREATE OR REPLACE TRIGGER log_insert AFTER INSERT ON reviews REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION log_reviews();
CREATE OR REPLACE TRIGGER log_update AFTER UPDATE ON reviews REFERENCING OLD TABLE AS replaced NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION log_reviews();
CREATE OR REPLACE TRIGGER log_delete AFTER DELETE ON reviews REFERENCING OLD TABLE AS replaced FOR EACH STATEMENT EXECUTE FUNCTION log_reviews();
CREATE OR REPLACE TRIGGER log_insert AFTER INSERT ON shelf_books REFERENCING NEW TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION log_shelf_books();
CREATE OR REPLACE TRIGGER log_delete AFTER DELETE ON shelf_books REFERENCING OLD TABLE AS moved FOR EACH STATEMENT EXECUTE FUNCTION log_shelf_books();

CREATE OR REPLACE FUNCTION pending_events(rows_max integer)
 RETURNS TABLE(user_id uuid, id bigint, kind text, payload jsonb, created_at timestamp with time zone)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path = public, pg_temp
AS $$
  select e.user_id, e.id, e.kind, e.payload, e.created_at from events e
    where e.delivered_at is null order by e.id limit rows_max;
$$;

CREATE OR REPLACE FUNCTION take_events(holder uuid, lease_ms integer, rows_max integer)
 RETURNS TABLE(user_id uuid, id bigint, kind text, payload jsonb, created_at timestamp with time zone)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path = public, pg_temp
AS $$
begin
  insert into leases as l (name, holder, lease_until)
    values ('events', take_events.holder, clock_timestamp() + lease_ms * interval '1 millisecond')
    on conflict (name) do update
      set holder = excluded.holder, lease_until = excluded.lease_until
      where l.holder = excluded.holder or l.lease_until < clock_timestamp();
  if found then
    return query select * from pending_events(rows_max);
  end if;
end
$$;

CREATE OR REPLACE FUNCTION release_events(holder uuid)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path = public, pg_temp
AS $$
  delete from leases l where l.name = 'events' and l.holder = release_events.holder;
$$;

CREATE OR REPLACE FUNCTION mark_events_delivered(user_ids uuid[], ids bigint[])
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path = public, pg_temp
AS $$
  update events e set delivered_at = clock_timestamp()
    from unnest(user_ids, ids) as told (user_id, id)
    where e.user_id = told.user_id and e.id = told.id and e.delivered_at is null;
$$;

CREATE OR REPLACE FUNCTION prune_events(older_than_days integer, rows_max integer)
 RETURNS bigint
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path = public, pg_temp
AS $$
  with old as (select e.user_id, e.id from events e
      where e.created_at < now() - older_than_days * interval '1 day' limit rows_max),
    gone as (delete from events e using old where e.user_id = old.user_id and e.id = old.id returning 1)
  select count(*) from gone;
$$;

CREATE OR REPLACE FUNCTION library_positions(users uuid[])
 RETURNS TABLE(user_id uuid, place bigint)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path = public, pg_temp
AS $$
  select asked.id,
      coalesce((select h.last_seq from change_heads h where h.user_id = asked.id), 0)
      + coalesce((select max(e.id) from events e where e.user_id = asked.id), 0)
      + coalesce((select (extract(epoch from max(i.updated_at)) * 1000000)::bigint from imports i where i.user_id = asked.id), 0)
    from unnest(users) as asked (id);
$$;

-- MARK: Policies and grants

DROP POLICY IF EXISTS owner_only ON changes;
CREATE POLICY owner_only ON changes TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON changes;
CREATE POLICY administration ON changes TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON change_heads;
CREATE POLICY owner_only ON change_heads TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON change_heads;
CREATE POLICY administration ON change_heads TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

DROP POLICY IF EXISTS owner_only ON events;
CREATE POLICY owner_only ON events TO bookplate_app
    USING (user_id = app_user_id())
    WITH CHECK (user_id = app_user_id());
DROP POLICY IF EXISTS administration ON events;
CREATE POLICY administration ON events TO CURRENT_USER
    USING (true)
    WITH CHECK (true);

-- Triggers write the log.
GRANT SELECT ON changes, change_heads TO bookplate_app;
GRANT SELECT, INSERT ON events TO bookplate_app;

REVOKE ALL ON FUNCTION record_changes, log_objects, log_reviews_of_books, log_reviews, log_shelf_books FROM PUBLIC;
REVOKE ALL ON FUNCTION prune_changes, pending_events, take_events, release_events, mark_events_delivered, prune_events,
    library_positions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION prune_changes, pending_events, take_events, release_events, mark_events_delivered, prune_events,
    library_positions TO bookplate_app;
