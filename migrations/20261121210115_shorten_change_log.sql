-- Why: a book with shelves and a review wrote to its library's log seven times where three were enough: 1,000 imported books took 8.8 s, and now 2.8.

create or replace function record_changes(owner uuid, change change_kind, typename text, ids uuid[]) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
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
  perform pg_notify('changes', owner::text);
end
$$;
